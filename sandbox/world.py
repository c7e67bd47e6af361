"""The world of a family: a graph of states, and what a call does in each.

A state is a value: the rows of every table, by content. The permitted world is the `base` state, the world of a flip
is another state of the same graph, and a call leads from one state to the next. What a call does depends on the state,
the tool, the arguments and the caller alone (no clock, no chance), so it is computed once and remembered; the database
behind the graph is moved to a state by replaying the changes that lead there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from agentbound.data.canonical import canonical
from agentbound.data.records import Cell, Change, Flip, Row, Scaffold, Tool, Transition
from agentbound.errors import SqlRefused
from agentbound.sandbox import limits
from agentbound.sandbox.database import Database, Purpose, Statement, StatementFailed
from agentbound.sandbox.parameters import ArgumentCheck

Status = Literal["ok", "error", "refused"]
Table = tuple[tuple[Cell, ...], ...]
Net = dict[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call with its arguments and their canonical text (`key`), by which calls are compared."""

    tool: str
    args: Mapping[str, Any]
    key: str
    caller: str

    @classmethod
    def of(cls, tool: str, args: Any, caller: str) -> Call:
        """Whatever an agent sends becomes a call; what is not JSON keeps its `repr` as the key and fails the schema."""
        try:
            return cls(tool, args, canonical(args), caller)
        except (TypeError, ValueError, RecursionError):
            return cls(str(tool), {}, f"not JSON: {args!r:.200}", caller)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call did, leaving aside whether it may: `state` is the one it leads to, the same where nothing changed."""

    status: Status
    rows: tuple[Row, ...]
    error: str | None
    state: State


@dataclass(eq=False, slots=True)
class State:
    """The rows of every table, sorted by primary key; `id` is their hash.

    `history` is one way there from the rows of the record. `outcomes` and `facts` remember what was computed here.
    """

    tables: dict[str, Table]
    digests: dict[str, str]
    id: str
    history: tuple[_Move, ...]
    outcomes: dict[tuple[str, str, str], Outcome] = field(default_factory=dict)
    facts: dict[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Move:
    """A change of the database that can be replayed: a flip's rows or a write call's statements."""

    changes: tuple[Change, ...] = ()
    statements: tuple[Statement, ...] = ()
    bound: Mapping[str, Any] = field(default_factory=dict)


class World:
    """Tools acting on tables. Raises `SqlRefused` where the record's schema, rows or statements cannot be run."""

    def __init__(self, record: Scaffold) -> None:
        spec = record.world
        self.clock: Final = spec.clock
        self.caller: Final = record.caller
        self.transitions: Final[dict[str, Transition]] = dict(spec.transitions)
        self.tools: Final[dict[str, Tool]] = {t.name: t for t in record.tools}
        self.database: Final = Database(spec.schema_, spec.rows)
        self._checks = {name: ArgumentCheck(tool.parameters) for name, tool in self.tools.items()}
        self._parameters = {name: list(tool.parameters.get("properties", {})) for name, tool in self.tools.items()}
        self._compiled: dict[str, tuple[Statement, ...]] = {}
        self._states: dict[str, State] = {}
        self._flips: dict[str, State] = {}
        self.database.savepoint("base")
        self.base: Final = self._settle(None, frozenset(self.database.primary_keys), ())
        self._here = self.base

    # ---- states

    def flipped(self, flip: Flip) -> State:
        """The base state with a flip applied. Raises `SqlRefused` naming the flip where a row does not fit."""
        state = self._flips.get(flip.id)
        if state is None:
            self._go(self.base)
            move = _Move(changes=tuple(flip.delta))
            try:
                self._play(move)
            except StatementFailed as error:
                self.database.rollback("base")
                self._here = self.base
                raise SqlRefused(f"flip {flip.id}: {error}") from None
            tables = frozenset(c.table for c in flip.delta)
            state = self._flips[flip.id] = self._here = self._settle(self.base, tables, (move,))
        return state

    def rows(self, state: State, table: str) -> list[Row]:
        """The rows of a table as records, in the order of the primary key."""
        names = self.database.columns[table]
        return [dict(zip(names, values, strict=True)) for values in state.tables[table]]

    def row(self, state: State, table: str, key: Cell) -> Row | None:
        position = self.database.columns[table].index(self.database.primary_keys[table])
        names = self.database.columns[table]
        return next((dict(zip(names, r, strict=True)) for r in state.tables[table] if r[position] == key), None)

    def difference(self, before: State, after: State) -> Net:
        """Rows inserted, updated and deleted between two states, by (table, op); empty where they are the same."""
        if before is after:
            return {}
        known: Net | None = before.facts.get(("difference", after.id))
        if known is None:
            known = before.facts["difference", after.id] = self._difference(before, after)
        return known

    def _difference(self, before: State, after: State) -> Net:
        net: Net = {}
        for table, old_rows in before.tables.items():
            new_rows = after.tables[table]
            if old_rows is new_rows or before.digests[table] == after.digests[table]:
                continue
            position = self.database.columns[table].index(self.database.primary_keys[table])
            old, new = {r[position]: r for r in old_rows}, {r[position]: r for r in new_rows}
            counts = {
                "insert": len(new.keys() - old.keys()),
                "update": sum(new[k] != old[k] for k in new.keys() & old.keys()),
                "delete": len(old.keys() - new.keys()),
            }
            net.update({(table, op): n for op, n in counts.items() if n})
        return net

    # ---- calls

    def fault(self, call: Call) -> str | None:
        """Why a call cannot be made at all: no such tool, or arguments that do not fit its schema."""
        check = self._checks.get(call.tool)
        if check is None:
            return f"There is no tool named {call.tool[:80]}."
        return check.fault(call.args, call.key)

    def bound(self, call: Call) -> dict[str, Any]:
        """The parameters a statement sees: the call's arguments (a missing one is NULL), `:now` and `:caller`."""
        values = {name: _bindable(call.args.get(name)) for name in self._parameters[call.tool]}
        values["now"] = self.clock
        values["caller"] = call.caller
        return values

    def perform(self, state: State, call: Call) -> Outcome:
        """What the call does in a state, whether it may or not. The call has passed `fault`."""
        key = (call.tool, call.key, call.caller)
        outcome = state.outcomes.get(key)
        if outcome is None:
            outcome = state.outcomes[key] = self._perform(state, call)
        return outcome

    def ask(
        self, state: State, sql: str, bound: Mapping[str, Any], key: Any, purpose: Purpose = "read"
    ) -> tuple[Row, ...]:
        """The rows of a SELECT in a state, remembered under `key` (what `bound` was made from).

        Raises `SqlRefused` for a statement that may not be run and `StatementFailed` for one that fails.
        """
        memo = ("ask", sql, key)
        rows: tuple[Row, ...] | None = state.facts.get(memo)
        if rows is None:
            statement = self.database.statement(sql, purpose)
            self._go(state)
            rows = state.facts[memo] = tuple(self.database.run(statement, bound))
        return rows

    def holds(self, state: State, sql: str, bound: Mapping[str, Any], key: Any, purpose: Purpose = "read") -> bool:
        """Whether a predicate is true in a state. A predicate that fails is false: nothing is granted by an error."""
        try:
            rows = self.ask(state, sql, bound, key, purpose)
        except StatementFailed:
            state.facts["ask", sql, key] = ()
            return False
        return bool(rows) and bool(next(iter(rows[0].values())))

    def go(self, state: State) -> None:
        """Move the database to a state, for statements that `ask` cannot remember."""
        self._go(state)

    # ---- inside

    def _perform(self, state: State, call: Call) -> Outcome:
        transition = self.transitions[call.tool]
        values, key = self.bound(call), (call.key, call.caller)
        for requirement in transition.requires:
            if not self.holds(state, requirement.sql, values, key):
                return Outcome("error", (), requirement.error, state)
        statements = self._compile(call.tool, transition)
        self._go(state)
        if transition.kind == "read":
            try:
                return Outcome("ok", tuple(self.database.run(statements[-1], values)), None, state)
            except StatementFailed as error:
                return Outcome("error", (), f"The call failed: {error}.", state)
        return self._write(state, _Move(statements=statements, bound=values))

    def _write(self, state: State, move: _Move) -> Outcome:
        database = self.database
        database.savepoint("call")
        before = database.changes
        try:
            rows = self._play(move)
            if database.changes - before > limits.MAX_CHANGES:
                raise StatementFailed(f"the call would change more than {limits.MAX_CHANGES} rows")
        except StatementFailed as error:
            self._undo()
            return Outcome("error", (), f"The call failed: {error}.", state)
        database.release("call")
        tables = frozenset[str]().union(*(s.writes for s in move.statements))
        self._here = self._settle(state, tables, (*state.history, move))
        return Outcome("ok", tuple(rows), None, self._here)

    def _undo(self) -> None:
        """Take back a failed call. SQLite may already have given up the whole transaction (a step bound, OR ROLLBACK)."""
        if self.database.in_transaction:
            self.database.rollback("call")
            self.database.release("call")
        else:
            self.database.begin()
            self.database.savepoint("base")
            self._here = self.base

    def _compile(self, tool: str, transition: Transition) -> tuple[Statement, ...]:
        statements = self._compiled.get(tool)
        if statements is None:
            purposes: list[Purpose] = [transition.kind] * len(transition.sql)
            statements = tuple(self.database.statement(s, p) for s, p in zip(transition.sql, purposes, strict=True))
            self._compiled[tool] = statements
        return statements

    def _play(self, move: _Move) -> list[Row]:
        for change in move.changes:
            hit = self.database.change(change.op, change.table, change.key, change.row or change.set or {})
            if hit != 1:
                raise StatementFailed(f"{change.op} of {change.table} {change.key} hits {hit} rows")
        rows: list[Row] = []
        for statement in move.statements:
            rows = self.database.run(statement, move.bound)
        return rows

    def _go(self, state: State) -> None:
        here = self._here
        if state is here:
            return
        done = len(here.history)
        if state.history[:done] == here.history:
            ahead = state.history[done:]
        else:
            self.database.rollback("base")
            ahead = state.history
        for move in ahead:
            self._play(move)
        self._here = state

    def _settle(self, before: State | None, touched: frozenset[str], history: tuple[_Move, ...]) -> State:
        """The state the database is in now; a state with this content that is known already is the same state."""
        tables = dict(before.tables) if before else {}
        digests = dict(before.digests) if before else {}
        for table in touched:
            tables[table] = self.database.content(table)
            digests[table] = _hash(tables[table])
        identity = _hash(sorted(digests.items()))
        known = self._states.get(identity)
        if known is None:
            known = self._states[identity] = State(tables, digests, identity, history)
        return known


def _hash(value: Any) -> str:
    return hashlib.sha256(
        json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
    ).hexdigest()


def _bindable(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, dict | list):
        return canonical(value)
    return value
