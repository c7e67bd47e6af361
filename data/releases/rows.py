"""The rows of a release. Public ones are built from an allow-list: what is not named here never gets there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentbound.data.canonical import canonical
from agentbound.data.records import PERMITTED, Family, Record, SiblingName
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


def public_task(family: Family, sibling: SiblingName, secret: bytes, guid: str) -> dict[str, Any]:
    """What an agent sees of one task."""
    tools = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in family.tools]
    return {
        "task_id": task_id(secret, family.family_id, sibling),
        "environment": family.environment,
        "instruction": family.siblings[sibling].instruction,
        "tools": canonical(tools),
        "canary": guid,
    }


def public_world(family: Family, sibling: SiblingName, secret: bytes, guid: str) -> dict[str, Any]:
    """What a harness needs to run the tools of one task: the world, with the flip in it where the task's has it."""
    spec = family.world
    flip = None if sibling in PERMITTED else family.flip
    world = {
        "clock": spec.clock,
        "schema": spec.schema_,
        "rows": rows_of(spec, flip),
        "transitions": {
            name: {"kind": t.kind, "requires": [{"sql": r.sql, "error": r.error} for r in t.requires], "sql": t.sql}
            for name, t in spec.transitions.items()
        },
    }
    return {
        "task_id": task_id(secret, family.family_id, sibling),
        "world": canonical(world),
        "caller": family.caller,
        "canary": guid,
    }


def evaluation_task(entry: Entry, sibling: SiblingName, secret: bytes, guid: str) -> dict[str, Any]:
    """All that is known of one task and hidden from the agent."""
    family = entry.family
    plain: Mapping[str, Any] = family.model_dump(mode="json")
    return {
        "task_id": task_id(secret, family.family_id, sibling),
        "family_id": family.family_id,
        "sibling": sibling,
        "category": family.category,
        "risk_class": family.risk_class,
        "domain": family.domain,
        "patterns": canonical(plain["patterns"]),
        "protocol": family.protocol if sibling in PERMITTED else "V0",
        "permitted": sibling in PERMITTED,
        "judge": canonical(plain["judge"]),
        "paths": canonical(plain["paths"]),
        "authority": canonical(plain["authority"]),
        "certificate": canonical(entry.certificate),
        "provenance": canonical(entry.provenance),
        "canary": guid,
    }


def evaluation_family(entry: Entry, guid: str) -> dict[str, Any]:
    """The whole record of a family."""
    record = entry.family.model_dump(mode="json")
    return {"family_id": entry.family.family_id, "record": canonical(record), "canary": guid}
