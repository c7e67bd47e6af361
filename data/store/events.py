"""What is recorded about a run. An event is small: families, certificates and drafts are objects it names by digest."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from agentbound.data.findings import Finding
from agentbound.data.records import Record

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""Of an object in the store: the SHA-256 of its canonical JSON."""

Counts = dict[str, int]
"""Findings by code."""


class DraftRejected(Record):
    """A candidate that was not accepted on the way: `draft` is its object (see `draft_object`), `codes` its findings."""

    kind: Literal["draft"] = "draft"
    slot: str
    stage: str
    attempt: int = Field(ge=1)
    draft: Digest
    codes: list[str]


class Accepted(Record):
    """A slot that has its family: final.

    `findings` counts what was found in all of its attempts, `certificate` is the object that records the proofs.
    """

    kind: Literal["accepted"] = "accepted"
    slot: str
    stage: str
    family_id: str
    family: Digest
    certificate: Digest | None = None
    attempts: int = Field(ge=1)
    findings: Counts = Field(default_factory=dict)


class Rejected(Record):
    """A slot that stays without a family: final. `reasons` are sentences, `draft` the last candidate if there was one."""

    kind: Literal["rejected"] = "rejected"
    slot: str
    stage: str
    reasons: list[str] = Field(min_length=1)
    draft: Digest | None = None
    attempts: int = Field(ge=0)
    findings: Counts = Field(default_factory=dict)


class StageDone(Record):
    """A shard has been through a stage; `data` is what a later stage or a reader wants to know of it."""

    kind: Literal["stage"] = "stage"
    stage: str
    shard: str
    data: dict[str, Any] = Field(default_factory=dict)


class GateResult(Record):
    """What a gate over the data set measured."""

    kind: Literal["gate"] = "gate"
    gate: str
    passed: bool
    data: dict[str, Any] = Field(default_factory=dict)


class ReleaseAssembled(Record):
    """A release stands at `path`, relative to the run."""

    kind: Literal["release"] = "release"
    version: str
    path: str
    content_hash: str
    data: dict[str, Any] = Field(default_factory=dict)


Outcome = Accepted | Rejected
Event = DraftRejected | Accepted | Rejected | StageDone | GateResult | ReleaseAssembled

_ADAPTER: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])


def parse_event(value: Any) -> Event:
    """Read an event from decoded JSON. Raises `pydantic.ValidationError`."""
    return _ADAPTER.validate_python(value)


def draft_object(raw: Any, findings: list[Finding]) -> dict[str, Any]:
    """The object that keeps a rejected candidate: its raw text or record as it came, and all that was found in it."""
    return {"raw": raw, "findings": [finding.model_dump(mode="json") for finding in findings]}


def objects_of(event: Event) -> list[str]:
    """The digests of the objects an event names."""
    named = (getattr(event, name, None) for name in ("family", "certificate", "draft"))
    return [digest for digest in named if digest is not None]


def key_of(event: Event) -> tuple[str, ...]:
    """What an event is about. A slot has one outcome; of other events with one key the latest counts."""
    match event:
        case Accepted() | Rejected():
            return ("outcome", event.slot)
        case DraftRejected():
            return ("draft", event.slot, event.stage, str(event.attempt), event.draft)
        case StageDone():
            return ("stage", event.stage, event.shard)
        case GateResult():
            return ("gate", event.gate)
        case ReleaseAssembled():
            return ("release", event.version)
