"""One shard through generate and validate, in a worker process: seeds in, outcomes out.

A worker holds the blueprints and the writer; it never touches the run store. What it returns is plain data, so that it
crosses the process border cheaply and is what the store keeps.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentbound.data.blueprint import load_blueprints
from agentbound.data.findings import Finding
from agentbound.data.records import Family
from agentbound.data.seeds import Seed
from agentbound.generators.embedded import EmbeddedWriter
from agentbound.generators.loop import Outcome, Validate, make_family
from agentbound.taxonomy import load_taxonomy
from agentbound.validators.candidate import certify, validate


@dataclass(frozen=True)
class Bench:
    """What a worker needs to produce: the generator's seed and where a user's own content lies."""

    generator_seed: bytes
    taxonomy: tuple[str, ...] = ()


@dataclass
class Draft:
    """A rejected draft: its number in the slot, its part, the raw text and what was found."""

    attempt: int
    part: str
    raw: str
    findings: list[dict[str, Any]]


@dataclass
class Produced:
    """How one slot ended: the family and its certificate as plain data, or the reason why there is none."""

    slot: str
    family: dict[str, Any] | None
    certificate: dict[str, Any] | None
    reason: str | None
    attempts: int
    findings: dict[str, int]
    drafts: list[Draft] = field(default_factory=list)


def produce_shard(bench: Bench, seeds: Sequence[Seed]) -> list[Produced]:
    """Write, validate and prove a family for each seed."""
    writer = writer_of(bench)
    made = [produce(writer, seed) for seed in seeds]
    gc.collect()
    return made


def produce(writer: EmbeddedWriter, seed: Seed, validate_with: Validate = validate) -> Produced:
    """One seed through the loop; a family that the loop accepts is certified as a whole."""
    outcome = make_family(writer, validate_with, seed)
    family, certificate = outcome.family, None
    reason = outcome.reason
    if family is not None:
        proved, findings = certify(family)
        if proved is None:
            reason = f"the whole family was not proved: {findings[0] if findings else 'no certificate'}"
            outcome.rejected.append(_whole(outcome, family, findings))
            family = None
        else:
            certificate = proved.model_dump(mode="json")
    return Produced(
        slot=seed.slot,
        family=family.model_dump(mode="json", exclude_none=False) if family else None,
        certificate=certificate,
        reason=reason if family is None else None,
        attempts=max(1, len(outcome.rejected) + (family is not None)),
        findings=dict(outcome.findings()),
        drafts=[
            Draft(i + 1, r.part, r.text, [f.model_dump(mode="json") for f in r.findings])
            for i, r in enumerate(outcome.rejected)
        ],
    )


def _whole(outcome: Outcome, family: Family, findings: Sequence[Finding]) -> Any:
    from agentbound.generators.loop import Rejected

    return Rejected(outcome.candidates - 1, "scaffold", family.model_dump_json(), tuple(findings))


@lru_cache(maxsize=2)
def writer_of(bench: Bench) -> EmbeddedWriter:
    """The writer of this process, made once."""
    directories = [Path(d) for d in bench.taxonomy]
    taxonomy = load_taxonomy(*directories)
    return EmbeddedWriter(load_blueprints(*directories, taxonomy=taxonomy), bench.generator_seed)
