"""From a blueprint's short tools to the record's tools and transitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["one_line", "tool_record", "transition_record"]

_TYPES: Final[dict[str, dict[str, Any]]] = {
    "text": {"type": "string"},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "day": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$", "description": "A calendar day, YYYY-MM-DD."},
    "stamp": {
        "type": "string",
        "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$",
        "description": "A moment in UTC, YYYY-MM-DDTHH:MM:SSZ.",
    },
}


def tool_record(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """A tool as the agent sees it; a parameter whose name ends in `?` is optional."""
    params = spec.get("params") or {}
    schema = {
        "type": "object",
        "properties": {key.removesuffix("?"): _schema(value) for key, value in params.items()},
        "required": [key for key in params if not key.endswith("?")],
        "additionalProperties": False,
    }
    return {"name": name, "description": spec["about"], "parameters": schema}


def _schema(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"type": "string", "enum": value}
    if isinstance(value, dict):
        base = _TYPES.get(value.get("type", ""))
        if base is None:
            return value
        return {**base, **{k: v for k, v in value.items() if k != "type"}}
    return _TYPES.get(value, {"type": value})


def transition_record(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What a tool does."""
    optional = {key.removesuffix("?") for key in spec.get("params") or {} if key.endswith("?")}
    known = [_known(p, table, error, p in optional) for p, (table, error) in (spec.get("known") or {}).items()]
    record = {"requires": [*known, *(spec.get("requires") or [])], "incidental": spec.get("incidental", False)}
    if spec.get("read") is not None:
        seen = [_observes(o) for o in spec.get("observes") or []]
        return {**record, "kind": "read", "sql": [one_line(spec["read"])], "observes": seen}
    statements = spec["write"] if isinstance(spec["write"], list) else [spec["write"]]
    return {**record, "kind": "write", "sql": [one_line(s) for s in statements]}


def _known(parameter: str, place: str, error: str, optional: bool) -> dict[str, str]:
    """The row must be there: `table`, looked up by its id, or `table.column`."""
    table, _, column = place.partition(".")
    there = f"EXISTS(SELECT 1 FROM {table} WHERE {column or 'id'}=:{parameter})"
    return {"sql": f"SELECT :{parameter} IS NULL OR {there}" if optional else f"SELECT {there}", "error": error}


def _observes(seen: Any) -> Any:
    if isinstance(seen, str):
        table, _, key = seen.partition(".")
        return {"table": table, "key": key}
    return seen


def one_line(sql: str) -> str:
    """A statement that was written over several lines, on one."""
    return " ".join(line.strip() for line in sql.splitlines() if line.strip())
