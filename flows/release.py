"""From a run to a release: what the store holds, put into the shape that `agentbound.data.releases` assembles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from agentbound.data.records import parse_family
from agentbound.data.releases import Entry, RunFacts, assemble
from agentbound.data.store import Accepted, Rejected, ReleaseAssembled, RunStore
from agentbound.sandbox.proofs import PROOFS
from agentbound.validators.dataset import GateReport


def assemble_run(store: RunStore, version: str, reports: Sequence[GateReport], released: Container[str]) -> Path:
    """Assemble the release of a run at RUN/release, of the families `released`, and record it. Gives where it lies."""
    made = assemble(
        store.path / "release",
        entries(store, released),
        bytes.fromhex(store.secret),
        version,
        facts_of_run(store, reports),
        {p.code: p.claim for p in PROOFS.values()},
    )
    store.append(
        ReleaseAssembled(
            version=version, path="release", content_hash=made.public_hash, data={"evaluation": made.evaluation_hash}
        )
    )
    return made.path


def entries(store: RunStore, released: Container[str]) -> Iterator[Entry]:
    """The accepted families of a run whose ids are among `released`, in the plan's order."""
    for slot, outcome in store.outcomes().items():
        if isinstance(outcome, Accepted) and outcome.family_id in released:
            family = parse_family(store.get(outcome.family), slot)
            certificate = store.get(outcome.certificate) if outcome.certificate else {}
            provenance = {
                "slot": slot,
                "blueprint": family.blueprint,
                "forbidden": family.forbidden,
                "attempts": outcome.attempts,
            }
            yield Entry(family=family, certificate=certificate, provenance=provenance)


def facts_of_run(store: RunStore, reports: Sequence[GateReport]) -> RunFacts:
    """The funnel of a run in numbers."""
    outcomes = list(store.outcomes().values())
    findings: Counter[str] = Counter()
    for outcome in outcomes:
        findings.update(outcome.findings)
    return RunFacts(
        requested=len(store.plan.slots),
        accepted=sum(isinstance(o, Accepted) for o in outcomes),
        rejected=sum(isinstance(o, Rejected) for o in outcomes),
        drafts=sum(len(store.drafts(slot)) for slot in store.outcomes()),
        findings=dict(findings.most_common()),
        gates={r.gate: r.model_dump(mode="json") for r in reports},
    )
