"""The world of a family: a graph of states, and what a call does in each.

A state is a value: the rows of every table, by content. The permitted world is the `base` state, the world of a flip
is another state of the same graph, and a call leads from one state to the next. What a call does depends on the state,
the tool, the arguments and the caller alone (no clock, no chance), so it is computed once and remembered; the database
behind the graph is moved to a state by replaying the changes that lead there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from agentbound.data.canonical import canonical
from agentbound.data.records import Cell, Flip, Row, Tool, Transition, WorldSpec
from agentbound.errors import SqlRefused
from agentbound.sandbox import limits
from agentbound.sandbox.cells import StatementFailed, is_true
from agentbound.sandbox.database import Database, Statement
from agentbound.sandbox.guard import Purpose
from agentbound.sandbox.parameters import ArgumentCheck
from agentbound.sandbox.state import Call, Move, Net, Outcome, State, Table, difference


class Furnished(Protocol):
    """What a world is made from: a family's record, or as much of one as an agent's harness gets."""

    @property
    def world(self) -> WorldSpec: ...
    @property
    def caller(self) -> str: ...
    @property
    def tools(self) -> Sequence[Tool]: ...


class World:
    """Tools acting on tables. Raises `SqlRefused` where the record's schema, rows or statements cannot be run.

    `like` is a world of the same record but for its rows, whose checks need not be made again.
    """

    def __init__(self, record: Furnished, like: World | None = None) -> None:
        spec = record.world
        self.clock: Final = spec.clock
        self.caller: Final = record.caller
        self.transitions: Final[dict[str, Transition]] = dict(spec.transitions)
        self.tools: Final[dict[str, Tool]] = {t.name: t for t in record.tools}
        self.database: Final[Database] = Database(spec.schema_, spec.rows, like.database if like else None)
        self._keys = {t: self.database.columns[t].index(key) for t, key in self.database.primary_keys.items()}
        self._checks: dict[str, ArgumentCheck] = (
            like._checks if like else {n: ArgumentCheck(t.parameters) for n, t in self.tools.items()}
        )
        self._parameters = {name: list(tool.parameters.get("properties", {})) for name, tool in self.tools.items()}
        self._compiled: dict[str, tuple[Statement, ...]] = {}
        self._answers: dict[Any, tuple[Row, ...]] = {}
        self._states: dict[str, State] = {}
        self._flips: dict[str, State] = {}
        self.database.savepoint("base")
        try:
            self.base: Final = self._known(State.of(None, self._read(self._keys), ()))
        except StatementFailed as error:
            raise SqlRefused(f"the rows of the world: {error}") from None
        self._here = self.base

    # ---- states

    def flipped(self, flip: Flip) -> State:
        """The base state with a flip applied. Raises `SqlRefused` naming the flip where a row does not fit."""
        state = self._flips.get(flip.id)
        if state is None:
            self.go(self.base)
            move = Move(changes=tuple(flip.delta))
            try:
                state = self._apply(self.base, move)[0]
            except StatementFailed as error:
                raise SqlRefused(f"flip {flip.id}: {error}") from None
            self._flips[flip.id] = state
        return state

    def rows(self, state: State, table: str) -> list[Row]:
        """The rows of a table as records, in the order of the primary key."""
        names = self.database.columns[table]
        return [dict(zip(names, values, strict=True)) for values in state.tables[table]]

    def row(self, state: State, table: str, key: Cell) -> Row | None:
        names, at = self.database.columns[table], self._keys[table]
        return next((dict(zip(names, r, strict=True)) for r in state.tables[table] if r[at] == key), None)

    def difference(self, before: State, after: State) -> Net:
        """Rows inserted, updated and deleted between two states, by (table, op); empty where they are the same."""
        if before is after:
            return {}
        known: Net | None = before.facts.get(("difference", after.id))
        if known is None:
            known = before.facts["difference", after.id] = difference(before, after, self._keys)
        return known

    # ---- calls

    def fault(self, call: Call) -> str | None:
        """Why a call cannot be made at all: no such tool, or arguments that do not fit its schema."""
        check = self._checks.get(call.tool)
        if check is None:
            return f"There is no tool named {call.tool}."
        return check.fault(call)

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

        They depend on the content of the tables it reads alone, so they hold in every state that agrees on those.
        Raises `SqlRefused` for a statement that may not be run and `StatementFailed` for one that fails.
        """
        statement = self.database.statement(sql, purpose)
        memo = (sql, key, *[state.digests[table] for table in statement.tables])
        rows = self._answers.get(memo)
        if rows is None:
            self.go(state)
            rows = self._answers[memo] = tuple(self.database.run(statement, bound))
        return rows

    def holds(self, state: State, sql: str, bound: Mapping[str, Any], key: Any, purpose: Purpose = "read") -> bool:
        """Whether a predicate is true in a state. A predicate that fails is false: nothing is granted by an error."""
        try:
            return is_true(self.ask(state, sql, bound, key, purpose))
        except StatementFailed:
            return False

    def go(self, state: State) -> None:
        """Move the database to a state."""
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
            self._change(move)
            for statement in move.statements:
                self.database.run_again(statement, move.bound)
        self._here = state

    # ---- inside

    def _perform(self, state: State, call: Call) -> Outcome:
        transition = self.transitions[call.tool]
        values, key = self.bound(call), (call.key, call.caller)
        for requirement in transition.requires:
            if not self.holds(state, requirement.sql, values, key):
                return Outcome("error", (), requirement.error, state)
        try:
            if transition.kind == "read":
                return Outcome("ok", self.ask(state, transition.sql[-1], values, key), None, state)
            statements = self._compile(call.tool, transition)
            self.go(state)
            after, rows = self._apply(state, Move(statements=statements, bound=values))
        except StatementFailed as error:
            return Outcome("error", (), f"The call failed: {error}.", state)
        return Outcome("ok", rows, None, after)

    def _apply(self, state: State, move: Move) -> tuple[State, tuple[Row, ...]]:
        """Make a move from the state the database is in: where it leads, and the rows of its last statement.

        Raises `StatementFailed`, and then nothing has changed.
        """
        database = self.database
        database.savepoint("move")
        before, rows = database.changes, list[Row]()
        try:
            self._change(move)
            for statement in move.statements:
                rows = database.run(statement, move.bound)
            if database.changes - before > limits.MAX_CHANGES:
                raise StatementFailed(f"the call would change more than {limits.MAX_CHANGES} rows")
            tables = self._read(move.touches)
        except StatementFailed:
            self._undo()
            raise
        database.release("move")
        self._here = self._known(State.of(state, tables, (*state.history, move)))
        return self._here, tuple(rows)

    def _change(self, move: Move) -> None:
        for change in move.changes:
            hit = self.database.change(change.op, change.table, change.key, change.row or change.set or {})
            if hit != 1:
                raise StatementFailed(f"{change.op} of {change.table} {change.key} hits {hit} rows")

    def _undo(self) -> None:
        """Take back a failed move. SQLite may already have given up the whole transaction (a bound, OR ROLLBACK)."""
        if self.database.in_transaction:
            self.database.rollback("move")
            self.database.release("move")
        else:
            self.database.begin()
            self.database.savepoint("base")
            self._here = self.base

    def _compile(self, tool: str, transition: Transition) -> tuple[Statement, ...]:
        """The statements of a write."""
        statements = self._compiled.get(tool)
        if statements is None:
            statements = tuple(self.database.statement(sql, "write") for sql in transition.sql)
            if not any(s.writes for s in statements):
                raise SqlRefused(
                    f"the tool {tool} is a write and changes no table; make it a read or let it change one"
                )
            self._compiled[tool] = statements
        return statements

    def _read(self, tables: Mapping[str, Any] | frozenset[str]) -> dict[str, Table]:
        return {table: self.database.content(table) for table in tables}

    def _known(self, state: State) -> State:
        """The state with this content that is known already, or this one from now on."""
        return self._states.setdefault(state.id, state)


def _bindable(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, dict | list):
        return canonical(value)
    return value
