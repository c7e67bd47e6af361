"""Small runs for the tests of the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentbound.data.findings import Finding
from agentbound.data.store import Accepted, DraftRejected, Plan, Rejected, RunStore, Slot

SECRET = "5e" * 32

FINDING = Finding(code="solvable", part="scaffold", where="paths", wrong="it does not end well", mend="end it well")


def make_plan(slots: int = 6, **options: Any) -> Plan:
    """Slots s0, s1, … of two categories in turn, three classes."""
    wanted = [Slot(id=f"s{i}", category=("fraud", "drugs")[i % 2], risk_class=f"class{i % 3}") for i in range(slots)]
    return Plan(options={"preset": "quick", "families": slots, **options}, slots=tuple(wanted))


def family(slot: str, size: int = 40) -> dict[str, Any]:
    return {"family_id": f"family-{slot}", "text": "words " * size, "amount": 25.0}


def settle(store: RunStore, slot: str, size: int = 40) -> list[Accepted | Rejected | DraftRejected]:
    """The events of a slot: every third is rejected, every other one had a draft rejected on the way."""
    number = int(slot[1:])
    draft = store.put_draft(f"raw text of {slot}", [FINDING])
    if number % 3 == 2:
        reasons = ["nothing could be proved of it"]
        return [
            Rejected(slot=slot, stage="validate", reasons=reasons, draft=draft, attempts=2, findings={"solvable": 2})
        ]
    accepted = Accepted(
        slot=slot,
        stage="validate",
        family_id=f"family-{slot}",
        family=store.put(family(slot, size)),
        certificate=store.put({"record": slot}),
        attempts=1 + number % 2,
        findings={"solvable": 1, "bound": 3} if number % 2 else {},
    )
    on_the_way = DraftRejected(slot=slot, stage="validate", attempt=1, draft=draft, codes=["solvable"])
    return [on_the_way, accepted] if number % 2 else [accepted]


def settle_many(store: RunStore, slots: Sequence[str], size: int = 40) -> None:
    store.append_many([event for slot in slots for event in settle(store, slot, size)])


def finish(store: RunStore, batch: int = 2, size: int = 40) -> None:
    """Settle what is pending, `batch` slots at a time."""
    pending = [slot.id for slot in store.pending()]
    for start in range(0, len(pending), batch):
        settle_many(store, pending[start : start + batch], size)


def logs(run: Path) -> dict[str, bytes]:
    """The bytes of every segment by its path in the run."""
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.glob("*/*.jsonl"))}


def content(run: Path) -> dict[str, bytes]:
    """The bytes of each log of a run, wherever its segments end."""
    return {
        log: b"".join(path.read_bytes() for path in sorted((run / log).glob("*.jsonl")))
        for log in ("events", "objects")
    }
