"""What a run directory holds, read and checked from its segments alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from agentbound.data.store.disk import reading
from agentbound.data.store.events import (
    Accepted,
    DraftRejected,
    Event,
    Outcome,
    Rejected,
    key_of,
    objects_of,
    parse_event,
)
from agentbound.data.store.segments import Line, Place, damaged, encode, read_lines
from agentbound.errors import StoreCorrupt

EVENTS: Final = "events"
OBJECTS: Final = "objects"


@dataclass
class History:
    """Events in the order they were recorded, and where each object lies.

    `event_end` and `object_end` are the last lines that count; what follows them is the torn end of a killed write.
    """

    events: list[Event] = field(default_factory=list)
    latest: dict[tuple[str, ...], Event] = field(default_factory=dict)
    """The event that counts for each key (see `key_of`)."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """The final outcome of each slot that has one."""
    drafts: dict[str, list[DraftRejected]] = field(default_factory=dict)
    """By slot, in the order they were recorded."""
    slot_of_family: dict[str, str] = field(default_factory=dict)
    objects: dict[str, Place] = field(default_factory=dict)
    event_end: Place | None = None
    object_end: Place | None = None

    def add(self, event: Event) -> None:
        key = key_of(event)
        self.events.append(event)
        self.latest.pop(key, None)  # so that the newest stands last
        self.latest[key] = event
        if isinstance(event, Accepted | Rejected):
            self.outcomes[event.slot] = event
        if isinstance(event, DraftRejected):
            self.drafts.setdefault(event.slot, []).append(event)
        if isinstance(event, Accepted):
            self.slot_of_family[event.family_id] = event.slot


def envelope(event: Event, number: int, left: int) -> bytes:
    """The body an event is stored as: its number in the run, and how many of its batch come after it."""
    return encode({"n": number, "left": left, "event": event.model_dump(mode="json")})


def read_history(run: Path) -> History:
    """Read a run. A batch whose last event is not there counts as not written.

    Raises `StoreCorrupt`, naming file and line, for anything that a killed writer cannot have left behind.
    """
    history = History()
    with reading(run):
        for batch, end in _batches(run / EVENTS):
            for event in batch:
                history.add(event)
            history.event_end = end
        # After the events: a writer that is at work has each object on the disk before an event names it.
        for line in read_lines(run / OBJECTS):
            history.objects[line.sha256] = line.place
            history.object_end = line.place
    for event in history.events:
        for digest in objects_of(event):
            if digest not in history.objects:
                raise StoreCorrupt(
                    f"{run / OBJECTS} has lost the object {digest}, which the {event.kind} event of a slot names; put the "
                    "directory back from a copy, or start the run again in another one"
                )
    return history


def _batches(directory: Path) -> Iterator[tuple[list[Event], Place]]:
    batch: list[Event] = []
    for number, line in enumerate(read_lines(directory)):
        value, event = _opened(directory, line)
        if value["n"] != number:
            what = f"event {number} should stand here, not {value['n']}"
            raise damaged(directory / line.place.segment, line.number, what)
        batch.append(event)
        if value["left"] == 0:
            yield batch, line.place
            batch = []


def _opened(directory: Path, line: Line) -> tuple[dict[str, Any], Event]:
    try:
        value = line.value()
        return value, parse_event(value["event"])
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise damaged(
            directory / line.place.segment, line.number, "it holds no event that this version knows"
        ) from error
