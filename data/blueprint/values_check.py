"""Faults in what a blueprint says of its values: unknown kinds, ends that are none, names that come later."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from agentbound.data.blueprint.conditions import Loc, is_branch
from agentbound.data.blueprint.expressions import ExpressionFault, parse
from agentbound.data.blueprint.kinds import BUILT_IN, KINDS, fields_of, kind_of
from agentbound.data.blueprint.placeholders import named_in
from agentbound.data.pools import pool_names

__all__ = ["Problem", "expression_problems", "text_problems", "value_problems"]

Problem = tuple[Loc, str, str]
"""A place in the file, what is wrong there, and how to mend it."""

_KINDS_TEXT: Final = ", ".join(KINDS)


def value_problems(values: Mapping[str, Any], known: set[str], loc: Loc) -> Iterator[Problem]:
    """Check declared values from top to bottom; `known` takes in the names as they are declared."""
    for name, spec in values.items():
        place = (*loc, name)
        if name in BUILT_IN or name == "n":
            yield place, f"{name} is always there", "give the value another name"
        yield from _spec_problems(spec, known, place)
        known |= fields_of(str(name), spec)


def expression_problems(text: Any, known: set[str] | frozenset[str], loc: Loc) -> Iterator[Problem]:
    """Check an expression: it parses, and every name in it is a value drawn before."""
    if not isinstance(text, str):
        if not isinstance(text, bool | int):
            yield loc, f"{text!r} is no expression", "write a text like \"dual_sign and channel == 'desk'\""
        return
    try:
        expression = parse(text)
    except ExpressionFault as fault:
        yield loc, str(fault), "use + - * // %, comparisons, and, or, not, in, min, max, abs and `a if c else b`"
        return
    for name in sorted(expression.names - known):
        yield loc, f"`{text}` reads {name}, which is no value drawn before it", near(name, known)


def text_problems(text: str, known: set[str] | frozenset[str], loc: Loc) -> Iterator[Problem]:
    """Check the placeholders of a text."""
    for name in named_in(text):
        if name not in known:
            yield loc, f"<{name}> is no value", near(name, known)


def near(name: str, known: set[str] | frozenset[str]) -> str:
    """A hint for a name that is not there."""
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {close[0]}?"
    forms = sorted(k for k in known if k.startswith(f"{name.split('.')[0]}."))
    return f"it has {', '.join(forms)}" if forms else "declare it in `values`, above the place that uses it"


def _spec_problems(spec: Any, known: set[str], loc: Loc) -> Iterator[Problem]:
    if is_branch(spec):
        yield from expression_problems(spec["if"], known, (*loc, "if"))
        yield from _spec_problems(spec["then"], known, (*loc, "then"))
        if "else" in spec:
            yield from _spec_problems(spec["else"], known, (*loc, "else"))
        return
    kind = kind_of(spec)
    if kind is None:
        yield from _constant_problems(spec, known, loc)
        return
    if kind == "":
        yield loc, f"{sorted(map(str, spec))} is no kind of value", f"write one of {_KINDS_TEXT}"
        return
    if "if" in spec:
        yield from expression_problems(spec["if"], known, (*loc, "if"))
    for extra in sorted(set(map(str, spec)) - {kind, "if"} - KINDS[kind]):
        yield (*loc, extra), f"a value of the kind {kind} has no {extra}", "drop it, or look at the table of values"
    yield from _KIND_CHECKS[kind](spec[kind], known, (*loc, kind))
    if "from" in spec and f"{spec['from']}.long" not in known:
        yield (
            (*loc, "from"),
            f"{spec['from']} is no day or stamp drawn before",
            "name an earlier day or stamp, or `clock`",
        )


def _constant_problems(spec: Any, known: set[str], loc: Loc) -> Iterator[Problem]:
    if isinstance(spec, str):
        yield from text_problems(spec, known, loc)
    elif isinstance(spec, list) or spec is None:
        yield (
            loc,
            f"{spec!r} is no value",
            "write a text, a number or one of the kinds; {choice: […]} draws from a list",
        )


def _choice(items: Any, known: set[str], loc: Loc) -> Iterator[Problem]:
    if not isinstance(items, list) or not items:
        yield loc, "a choice needs a list of things to choose from", "write {choice: [a, b]}"
        return
    for number, item in enumerate(items):
        place = (*loc, number)
        if isinstance(item, dict):
            if "if" in item:
                yield from expression_problems(item["if"], known, (*place, "if"))
            for key, field in item.items():
                if isinstance(field, str) and key != "if":
                    yield from text_problems(field, known, (*place, key))
        elif isinstance(item, str):
            yield from text_problems(item, known, place)
    fields = {frozenset(item) - {"if"} for item in items if isinstance(item, dict) and "then" not in item}
    if len(fields) > 1:
        yield loc, "the choices have different fields", "give every choice the same fields"


def _ends(ends: Any, known: set[str], loc: Loc) -> Iterator[Problem]:
    if not isinstance(ends, list) or not 2 <= len(ends) <= 3:
        yield loc, f"{ends!r} is no range", "write [lo, hi] or [lo, hi, step]"
        return
    for number, end in enumerate(ends):
        yield from expression_problems(end, known, (*loc, number))
    if all(type(end) is int for end in ends) and ends[0] > ends[1]:
        yield loc, f"the range {ends} is empty", "write the lower end first"


def _flag(chance: Any, _known: set[str], loc: Loc) -> Iterator[Problem]:
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 <= chance <= 1:
        yield loc, f"{chance!r} is no probability", "write a number from 0 to 1"


def _id(pattern: Any, known: set[str], loc: Loc) -> Iterator[Problem]:
    if isinstance(pattern, dict):
        yield from _like({"like"}, pattern, known, loc)
    elif not isinstance(pattern, str) or not set("#@") & set(pattern):
        yield loc, f"{pattern!r} is no pattern", "write a text with # for a digit or @ for a letter"
    else:
        yield from text_problems(pattern, known, loc)


def _person(options: Any, known: set[str], loc: Loc) -> Iterator[Problem]:
    yield from _like({"like", "at"}, options, known, loc)


def _organisation(options: Any, known: set[str], loc: Loc) -> Iterator[Problem]:
    yield from _like({"like"}, options, known, loc)


def _like(allowed: set[str], options: Any, known: set[str], loc: Loc) -> Iterator[Problem]:
    if not isinstance(options, dict | None):
        yield loc, f"{options!r} is not what it takes", f"write {{}} or a mapping with {', '.join(sorted(allowed))}"
        return
    for key, name in (options or {}).items():
        if key not in allowed:
            yield (*loc, str(key)), f"it has no option {key}", f"options are {', '.join(sorted(allowed))}"
        elif name not in known:
            yield (*loc, str(key)), f"{name} is no value drawn before", near(str(name), known)


def _pool(name: Any, _known: set[str], loc: Loc) -> Iterator[Problem]:
    if name not in pool_names():
        yield loc, f"there is no pool {name}", f"there are {', '.join(pool_names())}"


_KIND_CHECKS: Final = {
    "choice": _choice,
    "int": _ends,
    "money": _ends,
    "calc": expression_problems,
    "flag": _flag,
    "id": _id,
    "person": _person,
    "organisation": _organisation,
    "pool": _pool,
    "day": _ends,
    "stamp": _ends,
}
