"""One shard through generate and validate, in a worker process: seeds in, outcomes out.

A worker holds the blueprints and the writer; it never touches the run store. What it returns is plain data, so that it
crosses the process border cheaply and is what the store keeps.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentbound.data.blueprint import load_blueprints
from agentbound.data.findings import Finding
from agentbound.data.records import Scaffold, parse_family
from agentbound.data.seeds import Seed
from agentbound.generators.embedded import EmbeddedWriter
from agentbound.generators.loop import make_family
from agentbound.taxonomy import load_taxonomy
from agentbound.validators.candidate import certify, validate
from agentbound.validators.difference import Accepted
from agentbound.validators.facts import FamilyFacts, facts_of
from agentbound.validators.registry import Siblings


@dataclass(frozen=True)
class Bench:
    """What a worker needs to produce: where a user's own content lies, and whether the shipped one is used beside it."""

    taxonomy: tuple[str, ...] = ()
    shipped: bool = True


@dataclass
class Draft:
    """A rejected draft: its number in the slot, its part, the raw text and what was found."""

    attempt: int
    part: str
    raw: str
    findings: list[dict[str, Any]]


@dataclass
class Produced:
    """How one slot ended: the family, its certificate and its facts, or the reason why there is none."""

    slot: str
    family: dict[str, Any] | None
    certificate: dict[str, Any] | None
    reason: str | None
    attempts: int
    findings: dict[str, int]
    drafts: list[Draft] = field(default_factory=list)
    facts: FamilyFacts | None = None


def produce_shard(bench: Bench, seeds: Sequence[Seed]) -> list[Produced]:
    """Write, validate and prove a family for each seed, each different from those before it in the shard."""
    writer, before = writer_of(bench), Accepted()
    made = []
    for seed in seeds:
        made.append(produce(writer, seed, before))
        if made[-1].family is not None:
            before.add(parse_family(made[-1].family))
    gc.collect()
    return made


def produce(writer: EmbeddedWriter, seed: Seed, before: Accepted) -> Produced:
    """One seed through the loop; the last word on a family is its certificate.

    It is compared with the families `before` first, since that costs less than a proof.
    """

    def validate_with(scaffold: Scaffold, siblings: Siblings) -> list[Finding]:
        return before.findings(scaffold, siblings) or validate(scaffold, siblings)

    outcome = make_family(writer, validate_with, seed, certify=certify)
    family, rejected = outcome.family, [kept for kept in outcome.drafts if kept.findings]
    return Produced(
        slot=seed.id,
        family=family.model_dump(mode="json", exclude_none=False) if family else None,
        certificate=outcome.certificate.model_dump(mode="json") if family else None,
        reason=outcome.reason,
        attempts=max(1, len(rejected) + (family is not None)),
        findings=dict(Counter(f.code for kept in rejected for f in kept.findings)),
        drafts=[
            Draft(i + 1, kept.part, kept.text, [f.model_dump(mode="json") for f in kept.findings])
            for i, kept in enumerate(rejected)
        ],
        facts=facts_of(family) if family else None,
    )


@lru_cache(maxsize=2)
def writer_of(bench: Bench) -> EmbeddedWriter:
    """The writer of this process, made once."""
    directories = [Path(d) for d in bench.taxonomy]
    taxonomy = load_taxonomy(*directories)
    return EmbeddedWriter(load_blueprints(*directories, taxonomy=taxonomy, shipped=bench.shipped))
