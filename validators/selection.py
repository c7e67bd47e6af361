"""Choosing the core: from all accepted families those that are most different and have the sharpest boundary.

The rule, in full. Every class keeps its share of the accepted families. Domains, protocols and patterns are held at
their share by the same means: a family that would fill a group beyond `SLACK` times its share waits until no other is
left, and so does one whose skeleton has had its due. Among those that remain, the next family is the one that is least
like what was chosen already, and of equals the one with the sharper boundary, then the one with the smaller id. Nothing
is drawn by chance, so the same families give the same core.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from agentbound.data.apportion import apportioned
from agentbound.data.records import SIBLINGS
from agentbound.validators.diversity import vectors
from agentbound.validators.facts import FamilyFacts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["select", "sharpness"]

SLACK: Final = 1.15
"""How far beyond its share among the accepted families a domain, protocol or pattern may go."""

SHARPNESS_WEIGHT: Final = 0.05
"""What the sharpest boundary is worth, in similarity of wordings."""


def select(families: Sequence[FamilyFacts], size: int, max_skeleton: float) -> list[FamilyFacts]:
    """The core, in the order of `families`: all of them where there are no more than `size`.

    `max_skeleton` is the share of the core that one skeleton may have.
    """
    if len(families) <= size:
        return list(families)
    likeness = _Likeness(families)
    room = _Room(families, size, max_skeleton)
    worth = [(SHARPNESS_WEIGHT * sharpness(f), f.family_id) for f in families]
    left, chosen = set(range(len(families))), list[int]()
    while len(chosen) < size:
        at = _next(likeness, room, worth, left)
        left.remove(at)
        chosen.append(at)
        likeness.choose(at)
        room.choose(at)
    return [families[at] for at in sorted(chosen)]


def sharpness(family: FamilyFacts) -> float:
    """How sharp the boundary is, 0 to 1: few cells part the worlds, and the investigation shows them late."""
    depth = family.shown_at / family.reads if family.reads else 0.0
    return 0.5 / max(1, family.changed_cells) + 0.5 * depth


def _next(likeness: _Likeness, room: _Room, worth: Sequence[tuple[float, str]], left: set[int]) -> int:
    """The best family that there is room for; where there is none, the best of a class that has room."""

    def cost(at: int) -> tuple[float, str]:
        sharp, family_id = worth[at]
        return likeness.of(at) - sharp, family_id

    for strict in (True, False):
        fitting = [at for at in left if room.has(at, strict=strict)]
        if fitting:
            return min(fitting, key=cost)
    return min(left, key=cost)


class _Room:
    """How many families of each group may still be chosen."""

    def __init__(self, families: Sequence[FamilyFacts], size: int, max_skeleton: float) -> None:
        self._groups = [list(_groups(f)) for f in families]
        self._classes = [f.risk_class for f in families]
        share = size / len(families)
        counts = Counter(g for groups in self._groups for g in groups)
        self._room = {g: math.ceil(n * share * SLACK) for g, n in counts.items()}
        for group in counts:
            if group[0] == "skeleton":
                self._room[group] = max(1, math.floor(max_skeleton * size))
        self._room.update(
            {("class", c): n for c, n in apportioned(dict(sorted(Counter(self._classes).items())), size).items()}
        )

    def has(self, at: int, *, strict: bool) -> bool:
        """Whether the class of a family has room, and with `strict` all its other groups as well."""
        if self._room["class", self._classes[at]] <= 0:
            return False
        return not strict or all(self._room[g] > 0 for g in self._groups[at])

    def choose(self, at: int) -> None:
        self._room["class", self._classes[at]] -= 1
        for group in self._groups[at]:
            self._room[group] -= 1


def _groups(family: FamilyFacts) -> Iterator[tuple[str, str]]:
    yield "skeleton", family.skeleton
    yield "blueprint", family.blueprint
    yield "domain", family.domain
    yield "protocol", family.protocol
    yield "rows", " ".join(c for c in family.change if c.startswith("rows"))
    yield from ((kind, pattern) for kind, pattern in family.patterns.items())


class _Likeness:
    """How like the chosen families each family is: the mean over its wordings of their nearest chosen neighbour's
    similarity, as they stand and masked."""

    def __init__(self, families: Sequence[FamilyFacts]) -> None:
        import numpy as np

        self._np: Any = np
        texts = ("instructions", "masked")
        self._matrices = [vectors([getattr(f, view)[s] for f in families for s in SIBLINGS]) for view in texts]
        self._transposed = [m.T.tocsc() for m in self._matrices]
        self._nearest: list[NDArray[np.float64]] = [np.zeros(len(families) * len(SIBLINGS)) for _ in texts]
        self._cost: list[float] = [0.0] * len(families)

    def of(self, at: int) -> float:
        return self._cost[at]

    def choose(self, at: int) -> None:
        rows = slice(at * len(SIBLINGS), (at + 1) * len(SIBLINGS))
        for nearest, matrix, transposed in zip(self._nearest, self._matrices, self._transposed, strict=True):
            similar = (matrix[rows] @ transposed).max(axis=0).toarray().ravel()
            self._np.maximum(nearest, similar, out=nearest)
        means = [n.reshape(-1, len(SIBLINGS)) ** 2 for n in self._nearest]
        self._cost = (sum(m.mean(axis=1) for m in means) / len(means)).tolist()
