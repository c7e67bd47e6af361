"""What a run is asked for: its options and its slots, fixed in RUN/run.json when the run is made."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from agentbound.data.canonical import canonical
from agentbound.data.records import Record
from agentbound.data.store.disk import Disk, reading, write_atomically
from agentbound.data.store.segments import encode
from agentbound.errors import RunVersionError, StoreCorrupt, UsageError

FORMAT: Final = 1
"""The version of everything in a run directory; a change that an older reader would misread raises it."""


class Slot(Record):
    """A requested family: `id` is unique in the run."""

    id: str
    category: str
    risk_class: str


class Plan(Record):
    """`options` are what the user chose, by the names the user knows; `slots` in the order of the release's making."""

    options: dict[str, Any]
    slots: tuple[Slot, ...]


def write_plan(disk: Disk, path: Path, plan: Plan) -> None:
    """Write run.json once, whole or not at all. Raises `UsageError` when two slots have one id."""
    twice = [slot for slot, count in Counter(slot.id for slot in plan.slots).items() if count > 1]
    if twice:
        raise UsageError(f"a run cannot be asked twice for a slot: {', '.join(twice[:3])}")
    body = plan.model_dump(mode="json")
    sealed = {"format": FORMAT, "sha256": _seal(body), "plan": body}
    write_atomically(disk, path, f"{canonical(sealed)}\n".encode("utf-8", "surrogatepass"))


def read_plan(path: Path) -> Plan:
    """The plan of a run.

    Raises `UsageError` where there is no run, `RunVersionError` for another format, `StoreCorrupt` for damage.
    """
    if not path.exists():
        raise UsageError(f"{path.parent} is no run: it has no {path.name}; name the directory given to build as --out")
    with reading(path):
        raw = path.read_bytes()
    try:
        sealed = json.loads(raw)
        version = sealed["format"]
        if version != FORMAT:
            raise RunVersionError(
                f"{path.parent} has format {version} and this version of agentbound reads format {FORMAT}; read it with the "
                "version that made it, or build into another directory"
            )
        if sealed["sha256"] != _seal(sealed["plan"]):
            raise ValueError("its checksum does not fit")
        return Plan.model_validate(sealed["plan"])
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise StoreCorrupt(f"{path} is damaged; put it back from a copy, or build into another directory") from error


def require_same(run: Path, kept: Plan, asked: Plan) -> None:
    """Raise `UsageError` naming the options in which `asked` differs from what the run was made with."""
    names = sorted(kept.options.keys() | asked.options.keys())
    pairs = [(name, kept.options.get(name), asked.options.get(name)) for name in names]
    differing = [
        f"{name} ({canonical(old)} then, {canonical(new)} now)"
        for name, old, new in pairs
        if canonical(old) != canonical(new)
    ]
    if differing:
        raise UsageError(
            f"{run} was made with other options: {', '.join(differing)}; give the same ones to go on, or choose another --out"
        )
    if kept.slots != asked.slots:
        raise UsageError(
            f"{run} asked for other slots under the same options, so the taxonomy has changed since; go on with the taxonomy "
            "it was made with, or choose another --out"
        )


def _seal(body: Any) -> str:
    return hashlib.sha256(encode(body)).hexdigest()
