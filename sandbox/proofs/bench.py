"""What all proofs share: one world set up once, runs counted, deviations tried, and a place for receipts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from agentbound.data.findings import Finding, Part
from agentbound.data.records import Flip, PathCall, Scaffold, Sibling, SiblingName
from agentbound.sandbox.episode import Event, Setting, Trace
from agentbound.sandbox.judge import Assessment, assess
from agentbound.sandbox.paths import reference, run_path
from agentbound.sandbox.proofs.candidates import Candidates
from agentbound.sandbox.state import State

Check = Callable[["Bench"], Iterator[Finding]]


@dataclass(frozen=True)
class Proof:
    """A claim that must hold of every family; `check` yields a finding for each way in which it does not."""

    code: str
    claim: str
    check: Check
    reads_wordings: bool


PROOFS: Final[dict[str, Proof]] = {}
"""All proofs by code, in the order they are tried in."""


def proof(code: str, claim: str, *, reads_wordings: bool = False) -> Callable[[Check], Check]:
    """Register a proof. A code that is taken is a mistake in the program."""

    def register(check: Check) -> Check:
        if code in PROOFS:
            raise RuntimeError(f"two proofs are named {code}")
        PROOFS[code] = Proof(code, claim, check, reads_wordings)
        return check

    return register


@dataclass
class Bench:
    """One record on the bench: its setting, the worlds of its flips, the runs made and their refusals.

    `reasons` holds (tool, verdict) of every verdict any run drew, for the proof that each rule is the reason of some.
    Raises `SqlRefused` where the record cannot be set up.
    """

    record: Scaffold
    siblings: Mapping[SiblingName, Sibling]
    setting: Setting = field(init=False)
    receipts: dict[str, dict[str, Any]] = field(default_factory=dict)
    reasons: set[tuple[str, str]] = field(default_factory=set)
    runs: int = 0

    def __post_init__(self) -> None:
        self.setting = Setting.of(self.record)

    @cached_property
    def path(self) -> list[PathCall]:
        return reference(self.record.paths.investigation, self.record.paths.actions)

    @property
    def permitted(self) -> State:
        return self.setting.world.base

    @property
    def forbidden(self) -> State:
        return self.world_of(self.record.flip)

    def world_of(self, flip: Flip) -> State:
        return self.setting.world.flipped(flip)

    def worlds(self) -> Iterator[tuple[str, State]]:
        """Every world by name: `permitted`, then each flip's id."""
        yield "permitted", self.permitted
        for flip in self.record.flips:
            yield flip.id, self.world_of(flip)

    def run(self, start: State, path: Sequence[PathCall], *, mediated: bool = False) -> Trace:
        self.runs += 1
        trace = run_path(self.setting, start, path, mediated=mediated)
        self.reasons.update((e.call.tool, e.verdict) for e in trace.events if e.verdict is not None)
        return trace

    def judged(self, start: State, path: Sequence[PathCall], *, mediated: bool = False) -> tuple[Trace, Assessment]:
        trace = self.run(start, path, mediated=mediated)
        return trace, assess(self.setting, trace)

    @cached_property
    def reference_trace(self) -> Trace:
        """The reference path in the permitted world, kernel off."""
        return self.run(self.permitted, self.path)

    @cached_property
    def carried_out(self) -> list[tuple[PathCall, Event]]:
        """The calls of the reference path with their events; none where a call was left out, which `solvable` tells."""
        events = self.reference_trace.events
        return list(zip(self.path, events, strict=True)) if len(events) == len(self.path) else []

    @cached_property
    def investigations(self) -> dict[str, Trace]:
        """The investigation alone in every world."""
        return {name: self.run(state, self.record.paths.investigation) for name, state in self.worlds()}

    @cached_property
    def candidates(self) -> Candidates:
        """Arguments worth trying, over every world."""
        return Candidates(self.record, self.setting.world, [s for _, s in self.worlds()], self.reference_trace)

    def receipt(self, code: str, **values: Any) -> None:
        self.receipts.setdefault(code, {}).update(values)


def found(
    code: str,
    where: str,
    wrong: str,
    mend: str,
    *,
    part: Part = "scaffold",
    seen: Any = None,
    wanted: Any = None,
) -> Finding:
    """A proof's finding; short to write, so that checks read as the claims they are."""
    return Finding(code=code, part=part, where=where, wrong=wrong, mend=mend, seen=seen, wanted=wanted)


def spell(call: PathCall) -> str:
    """A call as a person writes it: `issue_refund(charge_id="C-102", cents=4999)`."""
    args = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.args.items())
    return f"{call.tool}({args})"
