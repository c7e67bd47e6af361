"""In which turn the flips of a blueprint make the forbidden world, and in which form.

Where a row more (or less) of some table always meant *forbidden*, the shape of the difference between two worlds would
give the answer away. So inserts into a table are balanced by deletes from it, and what has no counterpart takes its
other form: the row is there in both worlds, and lies `elsewhere` in one of them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agentbound.data.blueprint.conditions import is_branch
from agentbound.data.blueprint.loader import Blueprint

__all__ = ["FlipShape", "Turn", "flip_shapes", "turns"]

PATIENCE: Final = 3
"""A flip whose shape gives it away makes the forbidden world in every third round alone."""


@dataclass(frozen=True)
class Turn:
    """A flip that makes the forbidden world; `elsewhere`: in its other form."""

    flip: str
    elsewhere: bool


@dataclass(frozen=True)
class FlipShape:
    """What a flip does as written: `table` and `sign` of its first insert (1) or delete (-1), else "" and 0.

    `worded`: an update sets a word that is the same in every family, or empties a cell. `movable`: it has another form.
    """

    table: str
    sign: int
    worded: bool
    movable: bool

    @property
    def plain(self) -> bool:
        """Whether its shape says nothing."""
        return self.sign == 0 and not self.worded


def flip_shapes(blueprint: Blueprint) -> dict[str, FlipShape]:
    """The shapes of the flips that may make the forbidden world, by id."""
    return {f["id"]: _shape(f["delta"]) for f in _mappings(blueprint.raw["flips"]) if f.get("forbidden", True)}


def turns(blueprint: Blueprint, rng: random.Random) -> Iterator[Turn]:
    """Turns for ever, round after round, with inserts and deletes of each table in balance."""
    shapes = flip_shapes(blueprint)
    sides = {(s.table, s.sign) for s in shapes.values() if s.sign}
    waited = {flip: rng.randrange(PATIENCE) for flip in sorted(shapes)}
    tilt: Counter[str] = Counter()
    while True:
        order = sorted(shapes)
        rng.shuffle(order)
        for flip in order:
            shape = shapes[flip]
            countered = not shape.worded and (shape.table, -shape.sign) in sides
            if shape.plain or (countered and shape.sign * tilt[shape.table] <= 0):
                tilt[shape.table] += shape.sign
                yield Turn(flip, elsewhere=False)
            elif shape.movable:
                yield Turn(flip, elsewhere=True)
            elif waited[flip] + 1 >= PATIENCE or len(shapes) == 1:
                waited[flip] = 0
                yield Turn(flip, elsewhere=False)
            else:
                waited[flip] += 1


def _shape(delta: Any) -> FlipShape:
    changes = list(_mappings(delta))
    sided = [c for c in changes if c["op"] != "update"]
    return FlipShape(
        table=str(sided[0]["table"]) if sided else "",
        sign=0 if not sided else 1 if sided[0]["op"] == "insert" else -1,
        worded=any(_is_word(cell) for c in changes if c["op"] == "update" for cell in c["set"].values()),
        movable=bool(sided) and all("elsewhere" in c for c in sided),
    )


def _is_word(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and "<" not in cell)


def _mappings(items: Any) -> Iterator[Mapping[str, Any]]:
    """The mappings of a list, through the branches of its conditions."""
    for item in items if isinstance(items, list) else [items]:
        if is_branch(item):
            yield from _mappings([item["then"], item.get("else")])
        elif isinstance(item, list):
            yield from _mappings(item)
        elif isinstance(item, dict):
            yield item
