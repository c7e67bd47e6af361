"""The stages of a build as plain functions: open the shards, settle what was produced, gate.

What they give is written to the run store by this process alone, shard after shard in a fixed order, so that a family
is compared with the same families before it however often the run was killed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, Final

from agentbound.data.records import parse_family
from agentbound.data.releases import task_id
from agentbound.data.seeds import Seed
from agentbound.data.store import Accepted, DraftRejected, Event, GateResult, Rejected, RunStore
from agentbound.errors import BudgetExhausted
from agentbound.flows.produce import Bench, Produced, produce, produce_shard, writer_of
from agentbound.flows.release import assemble_run
from agentbound.flows.views.progress import Progress
from agentbound.validators import difference
from agentbound.validators.dataset import MAX_SKELETON, GateReport, gate
from agentbound.validators.facts import FamilyFacts, facts_of
from agentbound.validators.selection import select, sharpness
from agentbound.validators.shortcuts import layout

STAGE: Final = "generate and validate"
SHARDS_A_WORKER: Final = 6
MAX_SHARD: Final = 100


@dataclass
class Job:
    """One build: its seeds in order, its store, and where progress is told.

    `core`: how many of the accepted families the release holds; all, if left out.
    """

    seeds: Sequence[Seed]
    bench: Bench
    store: RunStore
    progress: Progress
    workers: int
    version: str
    core: int | None = None
    accepted: difference.Accepted = field(default_factory=difference.Accepted)
    facts: list[FamilyFacts] = field(default_factory=list)


def run_stages(job: Job) -> Path:
    """All stages one after another in this process; gives where the release lies. Prefect's flow does the same."""
    for shard in open_shards(job):
        settle(job, shard, produce_shard(job.bench, shard))
    gated = gate_run(job)
    return assemble_run(job.store, job.version, gated.reports, gated.released)


def open_shards(job: Job) -> list[list[Seed]]:
    """The seeds that have no outcome yet, in shards; what is settled is told to the progress and to the difference gate."""
    pending = {slot.id for slot in job.store.pending()}
    for seed in job.seeds:
        outcome = job.store.outcome(seed.id)
        if outcome is None:
            continue
        if isinstance(outcome, Accepted):
            _take(job, job.store.get(outcome.family))
        job.progress.settled(seed.category, isinstance(outcome, Accepted), outcome.findings)
    size = max(1, min(MAX_SHARD, len(job.seeds) // (job.workers * SHARDS_A_WORKER)))
    groups = [list(job.seeds[i : i + size]) for i in range(0, len(job.seeds), size)]
    return [left for group in groups if (left := [s for s in group if s.id in pending])]


def settle(job: Job, shard: Sequence[Seed], produced: Sequence[Produced]) -> None:
    """Compare a shard's families with those before them, write again what is not different, and record all outcomes."""
    events: list[Event] = []
    for seed, made in zip(shard, produced, strict=True):
        made = _different(job, seed, made)
        events += record(job.store, made)
        if made.family is not None:
            _take(job, made.family, made.facts)
        job.progress.settled(seed.category, made.family is not None, made.findings)
    job.store.append_many(events)


def _different(job: Job, seed: Seed, made: Produced) -> Produced:
    """The family as it came, or one that no accepted family is like."""
    if made.family is None:
        return made
    family = parse_family(made.family, seed.id)
    if not job.accepted.findings(family, family.siblings):
        return made
    return produce(writer_of(job.bench), seed, job.accepted)


def _take(job: Job, record_data: Mapping[str, Any], facts: FamilyFacts | None = None) -> None:
    family = parse_family(record_data)
    job.accepted.add(family)
    job.facts.append(facts or facts_of(family))


def record(store: RunStore, made: Produced) -> Iterator[Event]:
    """The events of one slot, its objects put into the store."""
    for draft in made.drafts:
        address = store.put({"raw": draft.raw, "part": draft.part, "findings": draft.findings})
        codes = sorted({f["code"] for f in draft.findings})
        yield DraftRejected(slot=made.slot, stage=STAGE, attempt=draft.attempt, draft=address, codes=codes)
    if made.family is not None:
        yield Accepted(
            slot=made.slot,
            stage=STAGE,
            family_id=made.family["family_id"],
            family=store.put(made.family),
            certificate=store.put(made.certificate),
            attempts=made.attempts,
            findings=made.findings,
        )
        return
    last = made.drafts[-1] if made.drafts else None
    yield Rejected(
        slot=made.slot,
        stage=STAGE,
        reasons=_reasons(made),
        draft=store.put({"raw": last.raw, "part": last.part, "findings": last.findings}) if last else None,
        attempts=made.attempts,
        findings=made.findings,
    )


def _reasons(made: Produced) -> list[str]:
    commonest = Counter(made.findings).most_common(3)
    found = ", ".join(f"{code} {count} times" for code, count in commonest) or "nothing was found on its drafts"
    return [f"ended by {made.reason}: {found}"]


@dataclass(frozen=True)
class Gated:
    """What the gates said, and the ids of the families that the release holds."""

    reports: list[GateReport]
    released: frozenset[str]


def gate_run(job: Job) -> Gated:
    """Choose the core, and put the gates to it; recorded. The first that does not hold ends the build."""
    requested = Counter(seed.risk_class for seed in job.seeds)
    order = {seed.id: i for i, seed in enumerate(job.seeds)}
    accepted = sorted(job.facts, key=lambda f: order[f.family_id])
    released = select(accepted, job.core or len(accepted), MAX_SKELETON)
    secret = bytes.fromhex(job.store.secret)
    reports = gate(released, accepted, requested, layout(released, partial(task_id, secret)))
    reports.insert(0, _selection(released, accepted))
    job.store.append_many([GateResult(gate=r.gate, passed=r.passed, data=r.model_dump(mode="json")) for r in reports])
    for report in reports:
        if not report.passed:
            raise BudgetExhausted(
                f"the gate {report.gate} does not hold: {report.why} (the same command ends here again)"
            )
    return Gated(reports, frozenset(f.family_id for f in released))


def _selection(released: Sequence[FamilyFacts], accepted: Sequence[FamilyFacts]) -> GateReport:
    figures = {
        "released": len(released),
        "accepted": len(accepted),
        "sharpness": round(mean(map(sharpness, released)), 4) if released else None,
        "sharpness_of_accepted": round(mean(map(sharpness, accepted)), 4) if accepted else None,
    }
    return GateReport(gate="selection", passed=True, figures=figures)
