"""Arguments against a tool's JSON Schema. The schema is a stranger's too, so only a plain part of the language is let in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import jsonschema_rs

from agentbound.errors import SqlRefused

KEYWORDS: Final = frozenset(
    [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "uniqueItems",
        "description",
        "title",
        "default",
        "format",
    ]
)
"""JSON Schema keywords a tool may use: no references, no combinators, nothing that looks elsewhere."""


class ArgumentCheck:
    """Compiled once a tool; remembers what it said of arguments it has seen. Raises `SqlRefused` for an odd schema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        unknown = unknown_keywords(schema)
        if unknown:
            raise SqlRefused(
                f"the JSON Schema of a tool uses {', '.join(unknown)}; it may use {', '.join(sorted(KEYWORDS))}"
            )
        try:
            # The linear-time engine: a stranger's pattern cannot make a match take for ever.
            self._validator = jsonschema_rs.Draft202012Validator(
                dict(schema), pattern_options=jsonschema_rs.RegexOptions()
            )
        except (jsonschema_rs.ValidationError, ValueError, TypeError) as error:
            raise SqlRefused(f"the parameters of a tool are no JSON Schema: {str(error).splitlines()[0]}") from None
        self._said: dict[str, str | None] = {}

    def fault(self, args: Any, key: str) -> str | None:
        """What is wrong with the arguments, in one sentence, or None. `key` is their canonical text."""
        if key not in self._said:
            self._said[key] = self._fault(args, key)
        return self._said[key]

    def _fault(self, args: Any, key: str) -> str | None:
        if key.startswith("not JSON") or not isinstance(args, dict):
            return "The arguments are not a JSON object."
        try:
            key.encode()
            error = next(self._validator.iter_errors(args), None)
        except (ValueError, TypeError, OverflowError):
            return "The arguments are not JSON."
        if error is None:
            return None
        place = ".".join(map(str, error.instance_path))
        return f"The arguments do not fit the tool{f' at {place}' if place else ''}: {error.message[:200]}."


def unknown_keywords(schema: Mapping[str, Any]) -> list[str]:
    """Keywords outside `KEYWORDS`, sorted, at any depth."""
    found = {k for k in schema if k not in KEYWORDS}
    for name, inner in schema.get("properties", {}).items():
        found |= set(unknown_keywords(inner)) if isinstance(inner, Mapping) else {f"properties.{name}"}
    for place in ("items", "additionalProperties"):
        inner = schema.get(place)
        if isinstance(inner, Mapping):
            found |= set(unknown_keywords(inner))
    return sorted(found)
