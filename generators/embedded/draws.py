"""One family's draw: its source of chance, its values so far, and what must not come twice."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

__all__ = ["Draws", "Undrawable"]

T = TypeVar("T")

_TRIES = 200


class Undrawable(ValueError):
    """What keeps a value from being drawn, without a place: the caller knows the file and the line."""


@dataclass
class Draws:
    """`values` holds every name and form that can be written: `amount`, `amount.major`, `who`, `who.first`.

    `moments` holds the days and stamps among them, `people` the given name and surname of the persons.
    """

    rng: random.Random
    values: dict[str, Any] = field(default_factory=dict)
    moments: dict[str, datetime] = field(default_factory=dict)
    people: dict[str, tuple[str, str]] = field(default_factory=dict)
    taken: set[tuple[str, str]] = field(default_factory=set)
    """What was drawn already, with its kind: ids, given names, surnames, items of pools."""

    def inner(self) -> Draws:
        """For the values of one repeated row: it sees the outer ones, and nothing comes twice in the two together."""
        return Draws(self.rng, dict(self.values), dict(self.moments), dict(self.people), self.taken)

    def below(self, count: int) -> int:
        """A number from 0 to count - 1, from `random()` alone: the one method whose values Python keeps."""
        return int(self.rng.random() * count)

    def one_of(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def fresh(self, kind: str, make: Callable[[], str]) -> str:
        """Something of a kind that was not drawn before."""
        for _ in range(_TRIES):
            made = make()
            if (kind, made) not in self.taken:
                self.taken.add((kind, made))
                return made
        raise Undrawable(f"no new {kind} is left to draw; make the pattern or the pool wider")

    def fresh_of(self, kind: str, items: Sequence[str]) -> str:
        return self.fresh(kind, lambda: self.one_of(items))
