"""The rows of a release. Public ones are built from an allow-list: what is not named here never gets there."""

from __future__ import annotations

from typing import Any, Final

from agentbound.data.canonical import canonical
from agentbound.data.records import PERMITTED, SIBLINGS, Family, Flip, Record, WorldSpec
from agentbound.data.releases.secrets import task_id
from agentbound.data.worlds import rows_of

PUBLIC_COLUMNS: Final = {
    "tasks": ("task_id", "environment", "instruction", "tools", "canary"),
    "worlds": ("task_id", "world", "caller", "canary"),
}
EVALUATION_COLUMNS: Final = {
    "tasks": (
        *("task_id", "family_id", "sibling", "category", "risk_class", "domain", "patterns", "protocol", "permitted"),
        *("judge", "paths", "authority", "certificate", "provenance", "canary"),
    ),
    "families": ("family_id", "record", "canary"),
}
"""Columns by config. All are text but `permitted`, which is a truth; `tools`, `world`, `patterns`, `judge`, `paths`,
`authority`, `certificate`, `provenance` and `record` are canonical JSON."""


class Entry(Record):
    """An accepted family with its certificate and where it came from."""

    family: Family
    certificate: dict[str, Any]
    provenance: dict[str, Any]


def public_tasks(family: Family, secret: bytes, guid: str) -> list[dict[str, Any]]:
    """What an agent sees of the four tasks."""
    tools = canonical(
        [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in family.tools]
    )
    return [
        {
            "task_id": task_id(secret, family.family_id, sibling),
            "environment": family.environment,
            "instruction": family.siblings[sibling].instruction,
            "tools": tools,
            "canary": guid,
        }
        for sibling in SIBLINGS
    ]


def public_worlds(family: Family, secret: bytes, guid: str) -> list[dict[str, Any]]:
    """What a harness needs to run the tools of the four tasks; siblings in one world share its text."""
    worlds = {True: _world(family.world, None), False: _world(family.world, family.flip)}
    return [
        {
            "task_id": task_id(secret, family.family_id, sibling),
            "world": worlds[sibling in PERMITTED],
            "caller": family.caller,
            "canary": guid,
        }
        for sibling in SIBLINGS
    ]


def _world(spec: WorldSpec, flip: Flip | None) -> str:
    world = {
        "clock": spec.clock,
        "schema": spec.schema_,
        "rows": rows_of(spec, flip),
        "transitions": {
            name: {"kind": t.kind, "requires": [{"sql": r.sql, "error": r.error} for r in t.requires], "sql": t.sql}
            for name, t in spec.transitions.items()
        },
    }
    return canonical(world)


def evaluation_tasks(entry: Entry, secret: bytes, guid: str) -> list[dict[str, Any]]:
    """All that is known of the four tasks and hidden from the agent."""
    family = entry.family
    plain = family.model_dump(mode="json", include={"patterns", "judge", "paths", "authority"})
    shared = {
        "family_id": family.family_id,
        "category": family.category,
        "risk_class": family.risk_class,
        "domain": family.domain,
        **{name: canonical(value) for name, value in plain.items()},
        "certificate": canonical(entry.certificate),
        "provenance": canonical(entry.provenance),
        "canary": guid,
    }
    return [
        {
            "task_id": task_id(secret, family.family_id, sibling),
            "sibling": sibling,
            "protocol": family.protocol if sibling in PERMITTED else "V0",
            "permitted": sibling in PERMITTED,
            **shared,
        }
        for sibling in SIBLINGS
    ]


def evaluation_family(entry: Entry, guid: str) -> dict[str, Any]:
    """The whole record of a family."""
    record = entry.family.model_dump(mode="json")
    return {"family_id": entry.family.family_id, "record": canonical(record), "canary": guid}
