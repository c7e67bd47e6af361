"""Which events of a batch a run takes: each thing once, one outcome for a slot, one slot for a family."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from agentbound.data.canonical import canonical
from agentbound.data.store.events import Accepted, DraftRejected, Event, Rejected, key_of, objects_of
from agentbound.data.store.history import History
from agentbound.errors import StoreError


def admit(events: Iterable[Event], history: History, slots: AbstractSet[str], waiting: AbstractSet[str]) -> list[Event]:
    """The events that say something new, in order; `waiting` are digests of objects about to be written.

    Raises `StoreError` for an event that contradicts the run.
    """
    fresh: dict[tuple[str, ...], Event] = {}
    families: dict[str, str] = {}
    for event in events:
        key = key_of(event)
        before = fresh.get(key) or history.latest.get(key)
        if before is not None and _same(before, event):
            continue
        _require_slot(event, slots, before)
        if isinstance(event, Accepted):
            _require_own_family(event, families.get(event.family_id) or history.slot_of_family.get(event.family_id))
            families[event.family_id] = event.slot
        for digest in objects_of(event):
            if digest not in history.objects and digest not in waiting:
                raise StoreError(f"the {event.kind} event names object {digest}, which was not put; put it first")
        fresh[key] = event
    return list(fresh.values())


def _require_slot(event: Event, slots: AbstractSet[str], before: Event | None) -> None:
    if isinstance(event, Accepted | Rejected | DraftRejected) and event.slot not in slots:
        raise StoreError(f"the run was not asked for slot {event.slot}; record outcomes for slots of its plan alone")
    if isinstance(event, Accepted | Rejected) and before is not None:
        raise StoreError(
            f"slot {event.slot} is {before.kind} already and an outcome is final; leave out slots that have one"
        )


def _require_own_family(event: Accepted, other: str | None) -> None:
    if other is not None:
        raise StoreError(
            f"family {event.family_id} was accepted for slot {other} and cannot be for slot {event.slot} as well; write "
            "another one"
        )


def _same(a: Event, b: Event) -> bool:
    # By their bytes: 1 and True are equal in Python and differ on the disk.
    return canonical(a.model_dump(mode="json")) == canonical(b.model_dump(mode="json"))
