"""Arguments against a tool's JSON Schema. The schema is a stranger's too, so only a plain part of it is let in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import jsonschema_rs

from agentbound.errors import SqlRefused
from agentbound.sandbox import limits
from agentbound.sandbox.state import NOT_JSON, Call

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

    def fault(self, call: Call) -> str | None:
        """What is wrong with the arguments, in one sentence, or None."""
        if call.key not in self._said:
            self._said[call.key] = self._fault(call)
        return self._said[call.key]

    def _fault(self, call: Call) -> str | None:
        if call.key.startswith(NOT_JSON):
            return "The arguments are not JSON."
        if not isinstance(call.args, dict):
            return "The arguments are not a JSON object."
        if len(call.key) > limits.MAX_CELL:
            return f"The arguments are longer than {limits.MAX_CELL} characters."
        try:
            error = next(self._validator.iter_errors(call.args), None)
        except (ValueError, TypeError, OverflowError):
            return "The arguments are not JSON."
        if error is None:
            return None
        place = ".".join(map(str, error.instance_path))
        return f"The arguments do not fit the tool{f' at {place}' if place else ''}: {error.message[:200]}."


def unknown_keywords(schema: Mapping[str, Any]) -> list[str]:
    """Keywords outside `KEYWORDS`, sorted, at any depth."""
    found = {str(k) for k in schema if k not in KEYWORDS}
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        return sorted(found | {"properties that are no object"})
    for name, inner in properties.items():
        found |= set(unknown_keywords(inner)) if isinstance(inner, Mapping) else {f"properties.{name}"}
    for place in ("items", "additionalProperties"):
        inner = schema.get(place)
        if isinstance(inner, Mapping):
            found |= set(unknown_keywords(inner))
    return sorted(found)
