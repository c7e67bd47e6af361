"""The kinds of value a blueprint may declare, and the forms each can be written in."""

from __future__ import annotations

from typing import Any, Final

from agentbound.data.blueprint.conditions import is_branch

__all__ = ["BUILT_IN", "FORMS", "KINDS", "fields_of", "kind_of"]

KINDS: Final[dict[str, frozenset[str]]] = {
    "choice": frozenset(),
    "int": frozenset(),
    "money": frozenset(),
    "calc": frozenset({"as"}),
    "flag": frozenset(),
    "id": frozenset(),
    "person": frozenset(),
    "organisation": frozenset(),
    "pool": frozenset(),
    "day": frozenset({"from"}),
    "stamp": frozenset({"from"}),
}
"""Each kind with the keys it may have beside its own."""

_NUMBER: Final = frozenset({"major", "round", "word", "grouped"})
_TEXT: Final = frozenset({"cap", "lower", "upper"})
_DAY: Final = frozenset({"day", "long", "short", "weekday", "month", "year"})

FORMS: Final[dict[str, frozenset[str]]] = {
    "int": _NUMBER,
    "money": _NUMBER,
    "calc": _NUMBER,
    "flag": frozenset(),
    "id": _TEXT,
    "person": frozenset({"full", "first", "last", "initials", "handle", "email"}),
    "organisation": frozenset({"name", "domain", "short"}),
    "pool": _TEXT,
    "day": _DAY,
    "stamp": _DAY | {"time"},
    "number": _NUMBER,
    "text": _TEXT,
}

BUILT_IN: Final = frozenset({"clock", "budget", "forbidden"} | {f"clock.{f}" for f in FORMS["stamp"]})
"""Names that are always there."""


def kind_of(spec: Any) -> str | None:
    """The kind of a declared value; None for a constant, "" for a mapping that is none of them."""
    if not isinstance(spec, dict):
        return None
    found = [kind for kind in KINDS if kind in spec]
    return found[0] if len(found) == 1 else ""


def fields_of(name: str, spec: Any) -> frozenset[str]:
    """Every name under which a declared value can be read: `name` itself and `name.form`."""
    if is_branch(spec):
        return fields_of(name, spec["then"]) | fields_of(name, spec.get("else"))
    kind = kind_of(spec)
    if kind == "choice":
        items = spec["choice"] if isinstance(spec["choice"], list) else []
        return frozenset().union(*(_item_fields(name, item) for item in items))
    if kind is None:
        return _item_fields(name, spec)
    return frozenset({name} | {f"{name}.{form}" for form in FORMS.get(kind, frozenset())})


def _item_fields(name: str, item: Any) -> frozenset[str]:
    if isinstance(item, dict):
        if "then" in item:
            return _item_fields(name, item["then"]) | _item_fields(name, item.get("else"))
        return frozenset(f"{name}.{field}" for field in item if field != "if")
    forms = FORMS["text"] if isinstance(item, str) else FORMS["number"] if type(item) is int else frozenset()
    return frozenset({name} | {f"{name}.{form}" for form in forms})
