"""What must be right before anything is run: every name a record uses exists, every statement may be run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from agentbound.data.findings import Finding
from agentbound.data.records import Rule, RuleText, Scaffold
from agentbound.errors import SqlRefused
from agentbound.sandbox.database import Database
from agentbound.sandbox.guard import Purpose
from agentbound.sandbox.parameters import ArgumentCheck
from agentbound.sandbox.paths import is_reference
from agentbound.sandbox.proofs.bench import found

WELLFORMED: Final = "wellformed"
_RESERVED: Final = frozenset({"now", "caller"})


def wellformed(record: Scaffold) -> Iterator[Finding]:
    """Findings about names and statements. Where there is none the record can be put on the bench."""
    names = list(_names(record))
    yield from names
    if not names:
        yield from _statements(record)


def _fault(where: str, wrong: str, mend: str, seen: Any = None) -> Finding:
    return found(WELLFORMED, where, wrong, mend, seen=seen)


def _names(record: Scaffold) -> Iterator[Finding]:
    tools = [t.name for t in record.tools]
    steps = [s.id for s in record.judge.plan]
    evidence = [e.id for e in record.judge.evidence]
    flips = [f.id for f in record.flips]
    for what, ids in (
        ("tool", tools),
        ("plan step", steps),
        ("evidence", evidence),
        ("flip", flips),
        ("harm", [h.id for h in record.judge.harms]),
        ("success", [t.id for t in record.judge.success]),
        ("contract", [c.tool for c in record.authority.contracts]),
    ):
        yield from (_fault(f"{what} {i}", "the name is there twice", "give each its own", i) for i in _twice(ids))
    for name in sorted(set(tools) ^ set(record.world.transitions)):
        yield _fault(
            f"tool {name}",
            "tools and transitions do not have the same names",
            "write a transition for each tool and a tool for each transition",
            name,
        )
    if record.forbidden not in flips:
        yield _fault("forbidden", f"there is no flip {record.forbidden}", "name one of the flips", record.forbidden)
    yield from _tool_names(record, set(tools))
    yield from _plan_names(record, set(steps), set(evidence))
    yield from _refusals(record)


def _tool_names(record: Scaffold, tools: set[str]) -> Iterator[Finding]:
    used = [
        *((f"paths.investigation.{i}", c.tool) for i, c in enumerate(record.paths.investigation)),
        *((f"paths.actions.{i}", c.tool) for i, c in enumerate(record.paths.actions)),
        *((f"judge.plan.{s.id}", s.tool) for s in record.judge.plan),
        *(("authority.contracts", c.tool) for c in record.authority.contracts),
    ]
    for where, name in used:
        if name not in tools:
            yield _fault(where, f"there is no tool {name}", f"name one of {', '.join(sorted(tools))}", name)


def _plan_names(record: Scaffold, steps: set[str], evidence: set[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for step in record.judge.plan:
        for name in step.needs:
            if name not in evidence:
                yield _fault(
                    f"plan {step.id}", f"it needs {name}, which is no evidence", "name evidence of the judge", name
                )
        sources = [v["from"] for v in step.args.values() if is_reference(v)]
        for name in [*step.after, *sources]:
            if name not in seen:
                yield _fault(
                    f"plan {step.id}",
                    f"it comes after {name}, which is no earlier step",
                    "write the steps in an order that can be done",
                    name,
                )
        for name in sources:
            if name not in step.after:
                yield _fault(
                    f"plan {step.id}",
                    f"it uses a value of {name} and does not come after it",
                    f"add {name} to `after`",
                    name,
                )
        seen.add(step.id)
    actions = [a.id for a in record.paths.actions]
    if sorted(map(str, actions)) != sorted(steps):
        yield _fault(
            "paths.actions",
            "the actions do not carry out the plan's steps, one each",
            "give each action the id of its step",
            actions,
        )
    for item in record.judge.evidence:
        if (item.key is None) == (item.scope is None):
            yield _fault(
                f"evidence {item.id}", "it must have a key or a scope, and not both", "bind it to a row or to a scope"
            )


def _refusals(record: Scaffold) -> Iterator[Finding]:
    reasons = {g.id for c in record.authority.contracts for g in c.admit} | {"approval", "quota", "caller"}
    for flip in record.flips:
        if flip.refused_by not in reasons:
            yield _fault(
                f"flip {flip.id}",
                f"refused_by {flip.refused_by} is no grant",
                "name the grant that fails, or approval",
                flip.refused_by,
            )
    for contract in record.authority.contracts:
        if contract.quota and (contract.quota.calls is None) == (contract.quota.sum is None):
            yield _fault(f"contract {contract.tool}", "a quota has calls or a sum, one of the two", "write one of them")
        for name in _twice(g.id for g in contract.admit):
            yield _fault(
                f"contract {contract.tool}", f"the grant {name} is there twice", "give each its own name", name
            )


def _statements(record: Scaffold) -> Iterator[Finding]:
    try:
        database = Database(record.world.schema_, record.world.rows)
    except SqlRefused as error:
        yield _fault("world", str(error), "mend the schema or the row")
        return
    yield from _schemas(record)
    for where, sql, purpose, parameters in statements(record):
        try:
            statement = database.statement(sql, purpose)
        except SqlRefused as error:
            yield _fault(where, str(error), "write one statement that the sandbox may run", sql)
            continue
        unknown = sorted(statement.parameters - parameters)
        if unknown:
            yield _fault(
                where,
                f"it binds :{', :'.join(unknown)}, which nothing gives",
                "name a parameter of the tool, :now or :caller",
                sql,
            )
    for where, table in _tables(record):
        if table not in database.primary_keys:
            yield _fault(where, f"there is no table {table}", f"name one of {', '.join(database.primary_keys)}", table)


def statements(record: Scaffold) -> Iterator[tuple[str, str, Purpose, frozenset[str]]]:
    """Every statement of a record with its place, its purpose and the parameters it may bind."""
    own = {t.name: frozenset(t.parameters.get("properties", {})) | _RESERVED for t in record.tools}
    for name, transition in record.world.transitions.items():
        for requirement in transition.requires:
            yield f"world.transitions.{name}.requires", requirement.sql, "read", own[name]
        for sql in transition.sql:
            yield f"world.transitions.{name}.sql", sql, transition.kind, own[name]
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


def _schemas(record: Scaffold) -> Iterator[Finding]:
    for tool in record.tools:
        reserved = sorted(_RESERVED & set(tool.parameters.get("properties", {})))
        if reserved or tool.parameters.get("type") != "object":
            yield _fault(
                f"tool {tool.name}",
                "its parameters are no object schema, or one is named now or caller",
                "write type object, and other names",
                reserved,
            )
            continue
        try:
            ArgumentCheck(tool.parameters)
        except SqlRefused as error:
            yield _fault(f"tool {tool.name}", str(error), "write a plain JSON Schema")
    for name, transition in record.world.transitions.items():
        if not transition.sql or (transition.kind == "read" and len(transition.sql) != 1):
            yield _fault(
                f"world.transitions.{name}",
                "a read is one SELECT, a write one statement or more",
                "write the statements",
                len(transition.sql),
            )
        parameters = set(next(t for t in record.tools if t.name == name).parameters.get("properties", {}))
        for observes in transition.observes:
            unknown = sorted(set((observes.scope or {}).values()) - parameters)
            if unknown:
                yield _fault(
                    f"world.transitions.{name}.observes",
                    f"the scope names {', '.join(unknown)}, no parameter of the tool",
                    "map columns to parameters",
                    unknown,
                )


def _tables(record: Scaffold) -> Iterator[tuple[str, str]]:
    for item in record.judge.evidence:
        yield f"judge.evidence.{item.id}", item.table
    for touch in record.judge.touches:
        yield "judge.touches", touch.table
    for flip in record.flips:
        yield from ((f"flips.{flip.id}", c.table) for c in flip.delta)
    for name, transition in record.world.transitions.items():
        yield from ((f"world.transitions.{name}.observes", o.table) for o in transition.observes)
    for where, rule in _rules(record):
        if isinstance(rule, RuleText):
            yield where, rule.table


def _rules(record: Scaffold) -> Iterator[tuple[str, Rule]]:
    for contract in record.authority.contracts:
        place = f"authority.contracts.{contract.tool}"
        yield from ((f"{place}.{g.id}", g.rule) for g in contract.admit)
        if contract.quota:
            yield f"{place}.quota", contract.quota.rule
        if contract.approval:
            yield f"{place}.approval", contract.approval.rule


def _twice(ids: Iterable[str]) -> list[str]:
    return sorted(i for i, n in Counter(ids).items() if n > 1)
