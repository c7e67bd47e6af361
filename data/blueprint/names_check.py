"""Faults in how values are read: every placeholder, condition, repetition and wording of a file as it is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agentbound.data.blueprint.conditions import Loc
from agentbound.data.blueprint.kinds import BUILT_IN
from agentbound.data.blueprint.values_check import Problem, expression_problems, text_problems, value_problems
from agentbound.data.blueprint.wording import WordingFault, parse_wording

__all__ = ["name_problems"]

_CHECKED_APART: Final = frozenset({"values", "budget"})


def name_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Check every text of a file against the values it declares."""
    budget = data.get("budget")
    if isinstance(budget, dict):
        yield from value_problems({"calls": budget}, set(), ("budget",))
    known = set(BUILT_IN)
    values = data.get("values")
    if isinstance(values, dict):
        yield from value_problems(values, known, ("values",))
    for key, section in data.items():
        if key not in _CHECKED_APART:
            yield from _walk(section, known, (key,))
    texts = data.get("texts")
    if isinstance(texts, dict):
        for pool, items in texts.items():
            yield from _markup(items, ("texts", pool))


def _walk(node: Any, known: set[str], loc: Loc) -> Iterator[Problem]:
    if isinstance(node, str):
        yield from text_problems(node, known, loc)
    elif isinstance(node, list):
        for number, child in enumerate(node):
            yield from _walk(child, known, (*loc, number))
    elif isinstance(node, dict):
        yield from _walk_mapping(node, known, loc)


def _walk_mapping(node: dict[Any, Any], known: set[str], loc: Loc) -> Iterator[Problem]:
    if "if" in node:
        yield from expression_problems(node["if"], known, (*loc, "if"))
    inner = known
    if "repeat" in node:
        count = node["repeat"]
        for end in count if isinstance(count, list) else [count]:
            yield from expression_problems(_bare(end), known, (*loc, "repeat"))
        inner = known | {"n"}
        if isinstance(node.get("with"), dict):
            yield from value_problems(node["with"], inner, (*loc, "with"))
    for key, child in node.items():
        if key not in ("if", "repeat", "with"):
            yield from _walk(child, inner, (*loc, key))


def _bare(end: Any) -> Any:
    return end[1:-1] if isinstance(end, str) and end.startswith("<") and end.endswith(">") else end


def _markup(items: Any, loc: Loc) -> Iterator[Problem]:
    for number, item in enumerate(items if isinstance(items, list) else []):
        text = item.get("text") if isinstance(item, dict) else item
        if isinstance(text, str):
            try:
                parse_wording(text)
            except WordingFault as fault:
                yield (*loc, number), str(fault), "write {one|another} for alternatives and [[…]] around a claim"
