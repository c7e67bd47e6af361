"""An episode: calls made one after another in a world, and the trace they leave."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agentbound.data.canonical import digest
from agentbound.data.records import Judge, Row, Scaffold
from agentbound.sandbox.cells import StatementFailed, is_true
from agentbound.sandbox.kernel import Kernel, Ledger
from agentbound.sandbox.limits import MAX_CELL
from agentbound.sandbox.state import Call, Outcome, State, Status
from agentbound.sandbox.world import World


@dataclass(frozen=True, slots=True)
class Event:
    """One call in the trace.

    `verdict` is the kernel's, also where it was off; `kind` is None for a tool that does not exist; `before` and
    `after` are the states around the call, the same one where nothing changed.
    """

    step: int
    parent: int | None
    call: Call
    verdict: str | None
    status: Status
    rows: tuple[Row, ...]
    error: str | None
    before: State
    after: State
    kind: Literal["read", "write"] | None

    @property
    def unsafe(self) -> bool:
        """An executed write with a verdict against it."""
        return self.verdict is not None and self.status == "ok" and self.kind == "write"

    @property
    def proposed_unsafe(self) -> bool:
        """A write with a verdict against it that was refused or failed."""
        return self.verdict is not None and self.status != "ok" and self.kind == "write"

    def observation(self) -> str:
        """What the agent is told: JSON rows, or the reason why not."""
        if self.status == "ok":
            return json.dumps(list(self.rows), ensure_ascii=False)
        return json.dumps({self.status: self.error}, ensure_ascii=False)

    def record(self) -> dict[str, Any]:
        """The event as plain data, for hashing and for files."""
        return {
            "step": self.step,
            "parent": self.parent,
            "caller": self.call.caller,
            "tool": self.call.tool,
            "args": self.call.key,
            "verdict": self.verdict,
            "status": self.status,
            "rows": list(self.rows),
            "error": self.error,
            "state": self.after.id,
        }


@dataclass(slots=True)
class Trace:
    """The events of an episode, from `start` on; `harms` the step each was reached at (0: it was there), for good."""

    start: State
    events: list[Event] = field(default_factory=list)
    harms: dict[str, int] = field(default_factory=dict)

    @property
    def end(self) -> State:
        return self.events[-1].after if self.events else self.start

    def hash(self) -> str:
        """The SHA-256 of all events: the receipt of a run, equal when it is run again."""
        return digest([self.start.id, [e.record() for e in self.events]])


@dataclass(frozen=True)
class Setting:
    """What an episode is run with, made once a family: the world, its kernel and its judge."""

    world: World
    kernel: Kernel
    judge: Judge

    @classmethod
    def of(cls, record: Scaffold, like: World | None = None) -> Setting:
        """Raises `SqlRefused` where the record's world cannot be set up. `like` as in `World`."""
        world = World(record, like)
        return cls(world, Kernel(world, record.authority), record.judge)


class Episode:
    """Calls in a world from a starting state. With `mediated` the kernel refuses; else it only writes its verdict."""

    def __init__(self, setting: Setting, start: State, *, mediated: bool) -> None:
        self.trace = Trace(start)
        self._setting = setting
        self._mediated = mediated
        self._ledger = Ledger()
        self._state = start
        self._note_harms()

    def fork(self) -> Episode:
        """An episode with the same past, to go on from here in another way."""
        other = Episode.__new__(Episode)
        other.trace = Trace(self.trace.start, [*self.trace.events], {**self.trace.harms})
        other._setting, other._mediated = self._setting, self._mediated
        other._ledger, other._state = self._ledger.copy(), self._state
        return other

    def call(self, tool: Any, args: Any, caller: str | None = None, parent: int | None = None) -> Event:
        """Make a call; whatever it is, it leaves an event and never an exception."""
        return self.make(Call.of(tool, args, self._setting.world.caller if caller is None else caller), parent)

    def make(self, call: Call, parent: int | None = None) -> Event:
        """As `call`, for a call that was put together before."""
        world, kernel, before = self._setting.world, self._setting.kernel, self._state
        transition = world.transitions.get(call.tool)
        kind = transition.kind if transition else None
        fault = world.fault(call)
        if fault is not None:
            self._ledger.calls += 1
            return self._note(parent, call, None, Outcome("error", (), fault, before), kind)
        decision = kernel.decide(before, self._ledger, call)
        if self._mediated and decision.verdict is not None:
            kernel.count(self._ledger, call, decision, None)
            refusal = Outcome("refused", (), f"Refused: {decision.verdict}.", before)
            return self._note(parent, call, decision.verdict, refusal, kind)
        outcome = world.perform(before, call)
        kernel.count(self._ledger, call, decision, outcome)
        event = self._note(parent, call, decision.verdict, outcome, kind)
        if kind == "write" and outcome.status == "ok":
            self._note_harms()
        return event

    def _note(
        self,
        parent: int | None,
        call: Call,
        verdict: str | None,
        outcome: Outcome,
        kind: Literal["read", "write"] | None,
    ) -> Event:
        step, before = len(self.trace.events) + 1, self._state
        event = Event(
            step, parent, call, verdict, outcome.status, outcome.rows, outcome.error, before, outcome.state, kind
        )
        self._state = outcome.state
        self.trace.events.append(event)
        return event

    def _note_harms(self) -> None:
        trace = self.trace
        for harm in self._setting.judge.harms:
            if harm.id not in trace.harms and truth(self._setting.world, self._state, harm.sql, trace.events):
                trace.harms[harm.id] = len(trace.events)


def truth(world: World, state: State, sql: str, events: Sequence[Event]) -> bool:
    """Whether a judge's predicate holds in a state after these events. Judges alone may read `calls`."""
    known: bool | None = state.facts.get(sql)
    if known is not None:
        return known
    bound = {"now": world.clock, "caller": world.caller}
    statement = world.database.statement(sql, "judge")
    if not statement.reads_calls:
        answer = state.facts[sql] = world.holds(state, sql, bound, "judge", "judge")
        return answer
    calls = [(e.step, e.call.tool, e.call.key[:MAX_CELL], e.status, e.call.caller, e.verdict) for e in events]
    world.go(state)
    world.database.fill_calls(calls)
    try:
        return is_true(world.database.run(statement, bound))
    except StatementFailed:
        return False
