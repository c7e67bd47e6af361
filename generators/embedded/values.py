"""The samplers: one for each kind of value a blueprint may declare.

`draw_values` compiles nothing but expressions; a file is checked when it is read (`agentbound.data.blueprint`), so a
sampler raises `Undrawable` only for what the draw itself brings about: an empty range, a pool that is used up.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from agentbound.data.blueprint.expressions import ExpressionFault, parse
from agentbound.data.blueprint.placeholders import substitute
from agentbound.generators.embedded.draws import Draws, Undrawable
from agentbound.generators.embedded.moments import draw_day, draw_stamp
from agentbound.generators.embedded.names import draw_organisation, draw_person, draw_pool

__all__ = ["draw_value", "draw_values", "evaluate", "put"]

_WORDS: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]


def draw_values(draws: Draws, specs: Mapping[str, Any]) -> None:
    """Draw values from top to bottom into `draws.values`."""
    for name, spec in specs.items():
        draw_value(draws, name, spec)


def draw_value(draws: Draws, name: str, spec: Any) -> None:
    """Draw one value, or leave it out where its condition is false."""
    while isinstance(spec, dict) and "if" in spec:
        holds = bool(evaluate(draws, spec["if"]))
        if "then" not in spec:
            if not holds:
                return
            spec = {k: v for k, v in spec.items() if k != "if"}
        elif holds:
            spec = spec["then"]
        elif "else" in spec:
            spec = spec["else"]
        else:
            return
    if not isinstance(spec, dict):
        put(draws, name, substitute(spec, draws.values))
        return
    for kind, sampler in _SAMPLERS.items():
        if kind in spec:
            sampler(draws, name, spec[kind], spec)
            return
    raise Undrawable(f"{sorted(spec)} is no kind of value")


def evaluate(draws: Draws, expression: Any) -> Any:
    """The value of an expression; a number stands for itself."""
    if not isinstance(expression, str):
        return expression
    try:
        return parse(expression)(draws.values)
    except ExpressionFault as fault:
        raise Undrawable(str(fault)) from None


def put(draws: Draws, name: str, value: Any) -> None:
    """Keep a value with the forms of its type."""
    values = draws.values
    values[name] = value
    if isinstance(value, str):
        values[f"{name}.cap"] = value[:1].upper() + value[1:]
        values[f"{name}.lower"] = value.lower()
        values[f"{name}.upper"] = value.upper()
    elif type(value) is int:
        values[f"{name}.major"] = f"{value / 100:.2f}"
        values[f"{name}.round"] = round(value / 100)
        values[f"{name}.grouped"] = f"{value:,}"
        values[f"{name}.word"] = _WORDS[value] if 0 <= value < len(_WORDS) else str(value)


def whole_between(draws: Draws, ends: Sequence[Any]) -> int:
    """A whole number from `[lo, hi]` or `[lo, hi, step]`, whose ends may be expressions."""
    numbers = [evaluate(draws, end) for end in ends]
    if not all(type(n) is int for n in numbers):
        raise Undrawable(f"the ends {list(ends)} come to {numbers}, which are not whole numbers")
    low, high, step = (*numbers, 1)[:3]
    if high < low or step < 1:
        raise Undrawable(f"the range {numbers} is empty")
    return int(low + step * draws.below((high - low) // step + 1))


def _choice(draws: Draws, name: str, items: Sequence[Any], _spec: Mapping[str, Any]) -> None:
    open_items = [i for i in items if not (isinstance(i, dict) and "if" in i and not evaluate(draws, i["if"]))]
    if not open_items:
        raise Undrawable(f"nothing is left to choose for {name}")
    item = draws.one_of(open_items)
    if isinstance(item, dict) and "then" in item:
        item = item["then"]
    if not isinstance(item, dict):
        put(draws, name, substitute(item, draws.values))
        return
    for field, value in item.items():
        if field != "if":
            draws.values[f"{name}.{field}"] = substitute(value, draws.values)


def _int(draws: Draws, name: str, ends: Sequence[Any], _spec: Mapping[str, Any]) -> None:
    put(draws, name, whole_between(draws, ends))


def _calc(draws: Draws, name: str, expression: Any, _spec: Mapping[str, Any]) -> None:
    put(draws, name, evaluate(draws, expression))


def _flag(draws: Draws, name: str, chance: float, _spec: Mapping[str, Any]) -> None:
    draws.values[name] = draws.rng.random() < chance


def _id(draws: Draws, name: str, pattern: Any, _spec: Mapping[str, Any]) -> None:
    if isinstance(pattern, dict):
        other = str(draws.values[pattern["like"]])
        put(draws, name, draws.fresh("id", lambda: _one_off(draws, other)))
    else:
        wanted = str(substitute(pattern, draws.values))
        put(draws, name, draws.fresh("id", lambda: _of_pattern(draws, wanted)))


def _of_pattern(draws: Draws, pattern: str) -> str:
    """Digits for #, capitals for @. A number does not begin with 0."""

    def one(match: re.Match[str]) -> str:
        if match[0] == "@":
            return draws.one_of(string.ascii_uppercase)
        leads = match.start() == 0 or pattern[match.start() - 1] != "#"
        return str(1 + draws.below(9)) if leads else str(draws.below(10))

    return re.sub("[#@]", one, pattern)


def _one_off(draws: Draws, other: str) -> str:
    """The other id with its last two digits swapped, or one digit changed."""
    places = [m.start() for m in re.finditer(r"\d", other)]
    if not places:
        raise Undrawable(f"{other} has no digit in which a look-alike could differ")
    one, two = places[-2:] if len(places) > 1 else (places[0], places[0])
    if other[one] not in (other[two], "0") and other[two] != "0" and draws.below(2):
        swapped = list(other)
        swapped[one], swapped[two] = swapped[two], swapped[one]
        return "".join(swapped)
    place = draws.one_of(places[-2:])
    digit = str(1 + (int(other[place]) + draws.below(8)) % 9)
    return other[:place] + digit + other[place + 1 :]


def _day(draws: Draws, name: str, ends: Sequence[Any], spec: Mapping[str, Any]) -> None:
    draw_day(draws, name, whole_between(draws, ends), spec.get("from", "clock"))


def _stamp(draws: Draws, name: str, ends: Sequence[Any], spec: Mapping[str, Any]) -> None:
    draw_stamp(draws, name, whole_between(draws, ends), spec.get("from", "clock"), evaluate(draws, ends[1]) <= 0)


def _person(draws: Draws, name: str, options: Mapping[str, Any] | None, _spec: Mapping[str, Any]) -> None:
    draw_person(draws, name, options or {})


def _organisation(draws: Draws, name: str, options: Mapping[str, Any] | None, _spec: Mapping[str, Any]) -> None:
    draw_organisation(draws, name, options or {})


def _pool(draws: Draws, name: str, pool: str, _spec: Mapping[str, Any]) -> None:
    put(draws, name, draw_pool(draws, pool))


_SAMPLERS: Final[dict[str, Callable[[Draws, str, Any, Mapping[str, Any]], None]]] = {
    "choice": _choice,
    "int": _int,
    "money": _int,
    "calc": _calc,
    "flag": _flag,
    "id": _id,
    "person": _person,
    "organisation": _organisation,
    "pool": _pool,
    "day": _day,
    "stamp": _stamp,
}
