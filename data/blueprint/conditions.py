"""Conditions of a blueprint, looked at without drawing: the versions a file can take.

`{if: e, then: x, else: y}` stands for x or y; a mapping with `if` and no `then` is there or left out. A file is
checked in as many versions as are needed for every branch to stand in one of them; in a version, what may be left
out is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["LEFT_OUT", "Loc", "Version", "is_branch", "versions"]

Loc = tuple[str | int, ...]


class _LeftOut:
    def __repr__(self) -> str:
        return "LEFT_OUT"


LEFT_OUT: Final = _LeftOut()
"""What a branch without `else` stands for where its expression is false."""


@dataclass(frozen=True)
class Version:
    """One version of a file: its data, and for each place in them the place in the file."""

    data: Any
    origins: dict[Loc, Loc]

    def origin(self, loc: Loc) -> Loc:
        """The place in the file of a place in the version, or of the nearest one above it."""
        while loc not in self.origins and loc:
            loc = loc[:-1]
        return self.origins.get(loc, ())


def is_branch(node: Any) -> bool:
    """Whether a node stands for one of two others."""
    return isinstance(node, dict) and "if" in node and "then" in node


def versions(data: Any) -> Iterator[Version]:
    """Versions in which every branch of the file is taken once or more."""
    for index in range(_alternatives(data)):
        origins: dict[Loc, Loc] = {}
        yield Version(_settle(data, index, (), (), origins), origins)


def _alternatives(node: Any) -> int:
    if is_branch(node):
        return _alternatives(node["then"]) + (_alternatives(node["else"]) if "else" in node else 1)
    if isinstance(node, dict):
        return max((_alternatives(child) for child in node.values()), default=1)
    if isinstance(node, list):
        return max((_alternatives(child) for child in node), default=1)
    return 1


def _settle(node: Any, index: int, loc: Loc, place: Loc, origins: dict[Loc, Loc]) -> Any:
    while is_branch(node):
        index %= _alternatives(node)
        first = _alternatives(node["then"])
        branch = "then" if index < first else "else"
        if branch not in node:
            return LEFT_OUT
        index -= 0 if branch == "then" else first
        node, place = node[branch], (*place, branch)
    origins[loc] = place
    if isinstance(node, dict):
        settled = {k: _settle(v, index, (*loc, k), (*place, k), origins) for k, v in node.items() if k != "if"}
        return {k: v for k, v in settled.items() if v is not LEFT_OUT}
    if isinstance(node, list):
        return _settle_list(node, index, loc, place, origins)
    return node


def _settle_list(node: list[Any], index: int, loc: Loc, place: Loc, origins: dict[Loc, Loc]) -> list[Any]:
    items: list[Any] = []
    for number, child in enumerate(node):
        item = _settle(child, index, (*loc, len(items)), (*place, number), origins)
        if item is not LEFT_OUT:
            items.append(item)
    return items
