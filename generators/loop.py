"""The loop that every writer works in: write a part, look at it, write again what was found wanting.

A seed ends in one family or in one rejection; every draft is kept with what was found in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from agentbound.data.canonical import digest
from agentbound.data.findings import Finding, Part
from agentbound.data.records import SIBLINGS, Family, Scaffold, Sibling, SiblingName
from agentbound.data.seeds import Seed
from agentbound.generators.writer import DERIVED_FROM, Attempt, Declined, Draft, Writer, Written

__all__ = ["Certify", "Kept", "LoopBudget", "Outcome", "Validate", "make_family"]

Validate = Callable[[Scaffold, Mapping[SiblingName, Sibling]], list[Finding]]
"""Findings on a candidate as far as it is written; called after each part, with a scaffold alone at first."""

Certify = Callable[[Family], tuple[Any, list[Finding]]]
"""A whole family's certificate, or the findings that keep it from having one."""

UNCHANGED: Final = 3
"""Findings that come back this often, word for word, will come back again."""

Reason = Literal["declined", "budget"]


@dataclass(frozen=True)
class LoopBudget:
    """`rewrites`: parts that may be written again within a candidate; `candidates`: scaffolds to start over from."""

    rewrites: int = 6
    candidates: int = 5


@dataclass(frozen=True)
class Kept:
    """A draft of one part. `content` is the scaffold, the wording, or what the writer said when it declined."""

    candidate: int
    part: Part
    content: Scaffold | Sibling | str
    findings: tuple[Finding, ...] = ()

    @property
    def text(self) -> str:
        """The content as text: a wording as it reads, a scaffold as JSON."""
        if isinstance(self.content, Sibling):
            return self.content.instruction
        return self.content if isinstance(self.content, str) else self.content.model_dump_json()


@dataclass(frozen=True)
class Outcome:
    """What became of a seed: a family with its certificate, or the reason why there is none. `drafts` holds them all."""

    seed: Seed
    family: Family | None
    certificate: Any
    reason: Reason | None
    drafts: tuple[Kept, ...]

    @property
    def accepted(self) -> bool:
        return self.family is not None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Those on the last draft that had any: why the seed was rejected."""
        return next((k.findings for k in reversed(self.drafts) if k.findings), ())


def make_family(
    writer: Writer,
    validate: Validate,
    seed: Seed,
    budget: LoopBudget | None = None,
    certify: Certify | None = None,
) -> Outcome:
    """Write the family of a seed. Without `certify` the last `validate` over all four wordings decides."""
    work = _Work(writer, validate, certify, seed, budget or LoopBudget())
    for candidate in range(work.budget.candidates):
        ended = work.candidate(candidate)
        if isinstance(ended, Declined):
            return work.rejected("declined")
        if ended is not None:
            return Outcome(seed, ended, work.certificate, None, tuple(work.kept))
    return work.rejected("budget")


@dataclass
class _State:
    """One candidate as far as it is written. `waiting` are findings in hand, by the part they are on."""

    draft: Draft | None = None
    written: dict[SiblingName, Written] = field(default_factory=dict)
    attempts: dict[SiblingName, list[Attempt]] = field(default_factory=dict)
    waiting: dict[Part, tuple[Finding, ...]] = field(default_factory=dict)
    rewrites: int = 0
    seen: set[str] = field(default_factory=set)
    met: dict[str, int] = field(default_factory=dict)


class _Work:
    """The work on one seed."""

    def __init__(
        self, writer: Writer, validate: Validate, certify: Certify | None, seed: Seed, budget: LoopBudget
    ) -> None:
        self.writer, self.validate, self.certify, self.seed, self.budget = writer, validate, certify, seed, budget
        self.kept: list[Kept] = []
        self.scaffolds = 0
        self.certificate: Any = None

    def rejected(self, reason: Reason) -> Outcome:
        return Outcome(self.seed, None, None, reason, tuple(self.kept))

    def candidate(self, number: int) -> Family | Declined | None:
        """A family; None where the candidate is given up."""
        state = _State()
        while True:
            part = _next_part(state)
            if part is None:
                return _family(state)
            content = self._write(part, state)
            if isinstance(content, Declined):
                self.kept.append(Kept(number, part, content.text))
                return content
            if content is None or _again(part, content, state):
                return None
            findings = self._findings(state)
            self.kept.append(Kept(number, part, content, tuple(findings)))
            if findings and not self._take_back(findings, state):
                return None

    def _write(self, part: Part, state: _State) -> Scaffold | Sibling | Declined | None:
        """Write a part into the state."""
        findings = state.waiting.pop(part, ())
        if part == "scaffold":
            draft = self.writer.scaffold(self.seed, self.scaffolds, findings)
            self.scaffolds += 1
            if isinstance(draft, Declined):
                return draft
            state.draft = draft
            return draft.scaffold
        assert state.draft is not None  # the scaffold is the first part
        earlier = {name: state.written[name] for name in DERIVED_FROM[part]}
        attempts = state.attempts.get(part, [])
        written = self.writer.write(part, self.seed, state.draft, earlier, findings, attempts)
        if written is None or isinstance(written, Declined):
            return written
        state.written[part] = written
        return written.sibling

    def _findings(self, state: _State) -> list[Finding]:
        assert state.draft is not None
        siblings = {name: written.sibling for name, written in state.written.items()}
        found = [f for f in self.validate(state.draft.scaffold, siblings) if f.severity == "error"]
        if found or self.certify is None or len(siblings) < len(SIBLINGS):
            return found
        self.certificate, found = self.certify(_family(state))
        return [f for f in found if f.severity == "error"]

    def _take_back(self, findings: Sequence[Finding], state: _State) -> bool:
        """Take back the first part that was found wanting, with all that depends on it; False: give the candidate up."""
        state.rewrites += 1
        same = digest(sorted(map(str, findings)))
        state.met[same] = state.met.get(same, 0) + 1
        if state.rewrites > self.budget.rewrites or state.met[same] >= UNCHANGED:
            return False
        parts: list[Part] = ["scaffold", *SIBLINGS]
        part = min((f.part for f in findings), key=parts.index)
        mine = tuple(f for f in findings if f.part == part)
        state.waiting[part] = mine
        if part == "scaffold":
            state.draft, state.written, state.attempts = None, {}, {}
        else:
            if part in state.written:
                state.attempts.setdefault(part, []).append(Attempt(state.written[part], mine))
            for name in _dependents(part):
                state.written.pop(name, None)
        return True


def _next_part(state: _State) -> Part | None:
    if state.draft is None:
        return "scaffold"
    return next((name for name in SIBLINGS if name not in state.written), None)


def _dependents(part: SiblingName) -> list[SiblingName]:
    """The part and, in order, every sibling that is written from one of those."""
    taken = [part]
    for name in SIBLINGS:
        if name not in taken and set(DERIVED_FROM[name]) & set(taken):
            taken.append(name)
    return taken


def _again(part: Part, content: Scaffold | Sibling, state: _State) -> bool:
    """Whether this very content was written for this part before, in this candidate, and found wanting."""
    if part != "scaffold":
        return any(a.written.sibling == content for a in state.attempts.get(part, []))
    same = digest(content.model_dump(mode="json"))
    if same in state.seen:
        return True
    state.seen.add(same)
    return False


def _family(state: _State) -> Family:
    assert state.draft is not None
    scaffold = state.draft.scaffold
    fields = {name: getattr(scaffold, name) for name in Scaffold.model_fields}
    return Family(**fields, siblings={name: state.written[name].sibling for name in SIBLINGS})
