"""What must be right about statements: each may be run, binds what somebody gives, and reads tables that are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from agentbound.data.findings import Finding
from agentbound.data.records import Rule, RuleText, Scaffold
from agentbound.errors import SqlRefused
from agentbound.sandbox.database import Database, Statement
from agentbound.sandbox.guard import Purpose
from agentbound.sandbox.parameters import ArgumentCheck
from agentbound.sandbox.proofs.bench import found

WELLFORMED: Final = "wellformed"
_RESERVED: Final = frozenset({"now", "caller"})
_TRANSITIONS: Final = "world.transitions."


def fault(where: str, wrong: str, mend: str, seen: Any = None) -> Finding:
    return found(WELLFORMED, where, wrong, mend, seen=seen)


def statement_faults(record: Scaffold, database: Database) -> Iterator[Finding]:
    """Findings about statements and the tables they name, once names and schemas are right."""
    compiled: list[tuple[str, Statement]] = []
    for where, sql, purpose, parameters in statements(record):
        try:
            statement = database.statement(sql, purpose)
        except SqlRefused as error:
            yield fault(where, str(error), "write one statement that the sandbox may run", sql)
            continue
        compiled.append((where, statement))
        unknown = sorted(statement.parameters - parameters)
        if unknown:
            yield fault(
                where,
                f"it binds :{', :'.join(unknown)}, which nothing gives",
                "name a parameter of the tool, :now or :caller",
                sql,
            )
    yield from _writes(record, compiled)
    yield from _tables(record, database)


def statements(record: Scaffold) -> Iterator[tuple[str, str, Purpose, frozenset[str]]]:
    """Every statement of a record with its place, its purpose and the parameters it may bind."""
    own = {t.name: frozenset(t.parameters.get("properties", {})) | _RESERVED for t in record.tools}
    for name, transition in record.world.transitions.items():
        for requirement in transition.requires:
            yield f"{_TRANSITIONS}{name}.requires", requirement.sql, "read", own[name]
        for sql in transition.sql:
            yield f"{_TRANSITIONS}{name}.sql", sql, transition.kind, own[name]
    for contract in record.authority.contracts:
        place = f"authority.contracts.{contract.tool}"
        for grant in contract.admit:
            yield f"{place}.admit.{grant.id}", grant.sql, "read", own[contract.tool]
        if contract.approval:
            yield f"{place}.approval.find", contract.approval.find, "read", own[contract.tool]
            if contract.approval.when:
                yield f"{place}.approval.when", contract.approval.when, "read", own[contract.tool]
    for truth in record.judge.success:
        yield f"judge.success.{truth.id}", truth.sql, "judge", _RESERVED
    for harm in record.judge.harms:
        yield f"judge.harms.{harm.id}", harm.sql, "judge", _RESERVED


def schema_faults(record: Scaffold) -> Iterator[Finding]:
    """Findings about the parameters of tools, which say what a statement may bind."""
    for tool in record.tools:
        try:
            ArgumentCheck(tool.parameters)
        except SqlRefused as error:
            yield fault(f"tool {tool.name}", str(error), "write a plain JSON Schema")
            continue
        names = set(tool.parameters.get("properties", {}))
        if names & _RESERVED or tool.parameters.get("type") != "object":
            yield fault(
                f"tool {tool.name}",
                "its parameters are no object schema, or one is named now or caller",
                "write type object, and other names",
                sorted(names & _RESERVED),
            )
        for observes in record.world.transitions[tool.name].observes:
            unknown = sorted(set((observes.scope or {}).values()) - names)
            if unknown:
                yield fault(
                    f"world.transitions.{tool.name}.observes",
                    f"the scope names {', '.join(unknown)}, no parameter of the tool",
                    "map columns to parameters",
                    unknown,
                )
        for step in record.judge.plan:
            unknown = sorted(set(step.args) - names) if step.tool == tool.name else []
            if unknown:
                yield fault(
                    f"plan {step.id}",
                    f"{tool.name} has no parameter {', '.join(unknown)}",
                    "name parameters of the tool",
                    unknown,
                )
    for name, transition in record.world.transitions.items():
        if not transition.sql or (transition.kind == "read" and len(transition.sql) != 1):
            yield fault(
                f"world.transitions.{name}",
                "a read is one SELECT, a write one statement or more",
                "write the statements",
                len(transition.sql),
            )


def _writes(record: Scaffold, compiled: Sequence[tuple[str, Statement]]) -> Iterator[Finding]:
    """A write changes a table, and one that is said not to matter no table that anything which matters looks at."""
    matters: dict[str, str] = {}
    for where, statement in compiled:
        if not where.startswith(_TRANSITIONS):
            matters.update((table, where) for table, _ in statement.reads)
    matters.update((e.table, f"evidence {e.id}") for e in record.judge.evidence)
    matters.update((t.table, "judge.touches") for t in record.judge.touches)
    for name, transition in record.world.transitions.items():
        if transition.kind != "write":
            continue
        where = f"{_TRANSITIONS}{name}"
        own = [statement for place, statement in compiled if place == f"{where}.sql"]
        changed = frozenset[str]().union(*(s.writes for s in own))
        if len(own) == len(transition.sql) and not changed:
            yield fault(f"{where}.sql", "a write that changes no table", "make it a read, or let it change one")
        for table in sorted(changed & matters.keys()) if transition.incidental else ():
            yield fault(
                f"{where}.incidental",
                f"it is said not to matter and changes {table}, which {matters[table]} looks at",
                "leave out `incidental`, or keep its rows in a table of their own",
                table,
            )


def _tables(record: Scaffold, database: Database) -> Iterator[Finding]:
    for where, table, columns in _named(record):
        if table not in database.primary_keys:
            yield fault(where, f"there is no table {table}", f"name one of {', '.join(database.primary_keys)}", table)
            continue
        unknown = sorted(set(columns) - set(database.columns[table]))
        if unknown:
            yield fault(where, f"{table} has no column {', '.join(unknown)}", "name columns of the table", unknown)


def _named(record: Scaffold) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Place, table and columns of the table, wherever a record names them outside a statement."""
    for item in record.judge.evidence:
        yield f"judge.evidence.{item.id}", item.table, item.scope or ()
    for touch in record.judge.touches:
        yield "judge.touches", touch.table, ()
    for flip in record.flips:
        yield from ((f"flips.{flip.id}", c.table, {**(c.row or {}), **(c.set or {})}) for c in flip.delta)
    for name, transition in record.world.transitions.items():
        for observes in transition.observes:
            yield f"world.transitions.{name}.observes", observes.table, observes.scope or ()
    for where, rule in _rules(record):
        if isinstance(rule, RuleText):
            yield where, rule.table, ()


def _rules(record: Scaffold) -> Iterator[tuple[str, Rule]]:
    for contract in record.authority.contracts:
        place = f"authority.contracts.{contract.tool}"
        yield from ((f"{place}.{g.id}", g.rule) for g in contract.admit)
        if contract.quota:
            yield f"{place}.quota", contract.quota.rule
        if contract.approval:
            yield f"{place}.approval", contract.approval.rule
