"""The writing side of a run.

One process writes: it holds the run's lock from `open_run` to `close`. Worker processes return their results to it and
never touch the store; a store that was carried into a forked child refuses to write.

    with open_run(directory, plan, secret) as store:
        for slot in store.pending():
            ...
            store.append_many([Accepted(slot=slot.id, family=store.put(record), ...)])

What `append_many` has returned from is on the disk. A batch is there whole or not at all, so the same command, run again
after a kill at any moment, finds each slot either settled or untouched.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from agentbound.data.findings import Finding
from agentbound.data.store import secret as release_secret
from agentbound.data.store.admit import admit
from agentbound.data.store.disk import Disk, create_directory, reading
from agentbound.data.store.events import (
    DraftRejected,
    Event,
    GateResult,
    Outcome,
    ReleaseAssembled,
    StageDone,
    draft_object,
)
from agentbound.data.store.history import EVENTS, OBJECTS, envelope, read_history
from agentbound.data.store.lock import WriterLock
from agentbound.data.store.plan import Plan, Slot, read_plan, require_same, write_plan
from agentbound.data.store.segments import SEGMENT_BYTES, Appender, encode, read_body
from agentbound.errors import StoreError, UsageError

RUN_FILE: Final = "run.json"
SECRET_FILE: Final = "secret"
LOCK_FILE: Final = "lock"

_BEFORE_THE_PLAN: Final = {LOCK_FILE, SECRET_FILE, f"{SECRET_FILE}.tmp", f"{RUN_FILE}.tmp", "prefect"}
"""What a start that was killed early may have left in a directory that is no run yet."""


def open_run(
    path: Path,
    plan: Plan,
    secret: str | None = None,
    *,
    disk: Disk | None = None,
    segment_bytes: int = SEGMENT_BYTES,
) -> RunStore:
    """Make the run at `path`, or go on with it.

    Without `secret` the run's own is used, or a new one made. Raises `UsageError` for other options, another secret or a
    directory of something else, `RunVersionError`, `StoreBusy`, `StoreCorrupt`, `StoreFull`.
    """
    disk = disk or Disk()
    _refuse_strangers(path)
    create_directory(disk, path)
    lock = WriterLock(path / LOCK_FILE, disk)
    try:
        return RunStore(path, plan, secret, lock, disk, segment_bytes)
    except BaseException:
        lock.release()
        raise


class RunStore:
    """A run open for writing; made by `open_run`. `notices` are sentences for the user on what was mended at opening."""

    def __init__(
        self, path: Path, plan: Plan, secret: str | None, lock: WriterLock, disk: Disk, segment_bytes: int
    ) -> None:
        self.path = path
        self.plan = plan
        self.secret = _settle(path, plan, secret, disk)
        self._lock = lock
        self._slots = {slot.id for slot in plan.slots}
        self._history = read_history(path)
        self._objects = Appender(path / OBJECTS, self._history.object_end, disk, segment_bytes)
        try:
            self._events = Appender(path / EVENTS, self._history.event_end, disk, segment_bytes)
        except BaseException:
            self._objects.close()
            raise
        self._writing = False
        self._waiting: dict[str, bytes] = {}
        self.notices = [
            f"the last write to {path / name} was cut short: {log.dropped} bytes of it were dropped, "
            "what they held will be made again"
            for name, log in ((OBJECTS, self._objects), (EVENTS, self._events))
            if log.dropped
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the run. What was `put` and not named in an event is not kept."""
        self._objects.close()
        self._events.close()
        self._lock.release()

    def outcome(self, slot: str) -> Outcome | None:
        """The final outcome of a slot, if it has one."""
        return self._history.outcomes.get(slot)

    def outcomes(self) -> dict[str, Outcome]:
        """The final outcomes by slot id, in the plan's order."""
        known = self._history.outcomes
        return {slot.id: known[slot.id] for slot in self.plan.slots if slot.id in known}

    def pending(self) -> list[Slot]:
        """The slots without an outcome, in the plan's order."""
        known = self._history.outcomes
        return [slot for slot in self.plan.slots if slot.id not in known]

    def drafts(self, slot: str) -> list[DraftRejected]:
        """The rejected drafts of a slot so far, in the order they were recorded."""
        return list(self._history.drafts.get(slot, []))

    def stage(self, stage: str, shard: str) -> StageDone | None:
        """The record of a shard's having been through a stage, if it has."""
        event = self._history.latest.get(("stage", stage, shard))
        return event if isinstance(event, StageDone) else None

    def gate(self, gate: str) -> GateResult | None:
        """The latest result of a gate."""
        event = self._history.latest.get(("gate", gate))
        return event if isinstance(event, GateResult) else None

    def release(self, version: str) -> ReleaseAssembled | None:
        """The release of that version, if it was assembled."""
        event = self._history.latest.get(("release", version))
        return event if isinstance(event, ReleaseAssembled) else None

    def slot_of(self, family_id: str) -> str | None:
        """The slot that a family id was accepted for."""
        return self._history.slot_of_family.get(family_id)

    def get(self, address: str) -> Any:
        """An object by its digest. Raises `StoreError` when there is none, `StoreCorrupt` when it is damaged."""
        if address in self._waiting:
            return json.loads(self._waiting[address])
        place = self._history.objects.get(address)
        if place is None:
            raise StoreError(f"{self.path} holds no object {address}; take digests from its events")
        return json.loads(read_body(self.path / OBJECTS, place))

    def put(self, value: Any) -> str:
        """Keep a JSON value with the next batch of events and return its digest; the same value is kept once."""
        body = encode(value)
        address = hashlib.sha256(body).hexdigest()
        if address not in self._history.objects:
            self._waiting[address] = body
        return address

    def put_draft(self, raw: Any, findings: list[Finding]) -> str:
        """`put` the object of a rejected candidate (see `draft_object`)."""
        return self.put(draft_object(raw, findings))

    def append(self, event: Event) -> int:
        """`append_many` of one event."""
        return self.append_many([event])

    def append_many(self, events: Sequence[Event]) -> int:
        """Record a batch, with the objects put since the last one, and return how many events were new.

        What is recorded already is left out. When this returns, the batch is on the disk; when it raises, none of it
        counts. Raises `StoreError` for an event that contradicts the run (a second outcome for a slot, a family
        accepted for two slots, an unknown slot or object), `StoreFull` for a disk that does not take it.
        """
        if not self._lock.held:
            raise StoreError(f"{self.path} is closed in this process; return results to the process that opened it")
        if self._writing:
            raise StoreError(f"a write to {self.path} did not come to its end; run the same command again to go on")
        fresh = admit(events, self._history, self._slots, self._waiting.keys())
        self._writing = True
        self._write(fresh)
        self._writing = False
        return len(fresh)

    def _write(self, fresh: list[Event]) -> None:
        # Objects first: an event on the disk has its objects there.
        places = self._objects.append(self._waiting.values())
        self._history.objects.update(zip(self._waiting, places, strict=True))
        self._waiting.clear()
        first, last = len(self._history.events), len(fresh) - 1
        self._events.append(envelope(event, first + i, last - i) for i, event in enumerate(fresh))
        for event in fresh:
            self._history.add(event)


def _refuse_strangers(path: Path) -> None:
    if path.is_dir():
        with reading(path):
            strangers = sorted(entry.name for entry in path.iterdir() if entry.name not in _BEFORE_THE_PLAN)
        # Looked for last: another process may be making the run just now.
        if strangers and not (path / RUN_FILE).exists():
            raise UsageError(
                f"{path} holds {strangers[0]} and is no run; choose a new or an empty directory with --out"
            )


def _settle(path: Path, plan: Plan, secret: str | None, disk: Disk) -> str:
    if (path / RUN_FILE).exists():
        require_same(path, read_plan(path / RUN_FILE), plan)
        return release_secret.recall(path / SECRET_FILE, secret)
    # The secret first: a run that has a plan has its secret, and one that has none may still be given another.
    settled = release_secret.settle(disk, path / SECRET_FILE, secret)
    write_plan(disk, path / RUN_FILE, plan)
    return settled
