"""Seeds: what each family starts from, and the chance that belongs to it."""

from __future__ import annotations

import hmac
import random
from collections.abc import Iterator, Sequence
from typing import Final

from agentbound.data.blueprint import Blueprint, Turn, turns
from agentbound.data.chance import rng_of
from agentbound.data.records import Record
from agentbound.errors import UsageError

__all__ = ["Seed", "plan_seeds"]

_GOLDEN: Final = 0.6180339887498949
"""Steps of this size fill a circle evenly, however many are taken."""


class Seed(Record):
    """A source scenario of one risk class.

    `id` is the slot in the plan (`fraud.refund_abuse.0003`) and names the family. `text` is the scenario in words,
    `provenance` where it comes from. `random_seed` is 64 hexadecimal digits from which all chance of the family is derived.
    For the embedded generator these are set: `blueprint`; `forbidden`, the flip of the forbidden world, and `elsewhere`,
    whether in its other form; `phase`, 0 to 1, where in the blueprint's pools of wordings the family begins. The phases
    of a blueprint's seeds are spread evenly, so that a wording comes again only after the others.
    """

    id: str
    category: str
    risk_class: str
    text: str
    provenance: str
    blueprint: str | None = None
    forbidden: str | None = None
    elsewhere: bool = False
    phase: float = 0.0
    random_seed: str

    def random(self, *path: str | int) -> random.Random:
        """The source of chance for one purpose: `seed.random("scaffold", attempt)`."""
        return rng_of(bytes.fromhex(self.random_seed), *path)


def plan_seeds(
    blueprints: Sequence[Blueprint],
    requested: Sequence[tuple[str, str, int]],
    secret_seed: bytes,
    pool: str = "benchmark",
) -> list[Seed]:
    """The seeds of a run: `requested` lists category, class and how many.

    Blueprints of a class take turns, and so do the flips of each; the order is drawn from the secret. A larger count
    has the seeds of a smaller one first. Raises `UsageError` where a class has no blueprint.
    """
    seeds: list[Seed] = []
    for category, risk_class, count in requested:
        of_class = [b for b in blueprints if (b.category, b.risk_class, b.pool) == (category, risk_class, pool)]
        if count and not of_class:
            raise UsageError(
                f"{category}/{risk_class} has no blueprint; add one under data/blueprints/{category}/{risk_class}, "
                f"or ask for none"
            )
        places = _places(sorted(of_class, key=lambda b: b.name), secret_seed) if count else iter(())
        for number in range(count):
            blueprint, turn, phase = next(places)
            slot = f"{category}.{risk_class}.{number:04}"
            seeds.append(
                Seed(
                    id=slot,
                    category=category,
                    risk_class=risk_class,
                    text=blueprint.theme,
                    provenance=f"blueprint {blueprint.name}, flip {turn.flip}",
                    blueprint=blueprint.name,
                    forbidden=turn.flip,
                    elsewhere=turn.elsewhere,
                    phase=phase,
                    random_seed=hmac.digest(secret_seed, f"seed/{slot}".encode(), "sha256").hex(),
                )
            )
    return seeds


def _places(blueprints: list[Blueprint], secret: bytes) -> Iterator[tuple[Blueprint, Turn, float]]:
    """Blueprint after blueprint, each with its next turn and phase, for ever."""
    order = list(blueprints)
    rng_of(secret, "blueprints", *(b.name for b in blueprints)).shuffle(order)
    flips = {b.name: turns(b, rng_of(secret, "flips", b.name)) for b in order}
    phases = {b.name: rng_of(secret, "phase", b.name).random() for b in order}
    while True:
        for blueprint in order:
            yield blueprint, next(flips[blueprint.name]), phases[blueprint.name]
            phases[blueprint.name] = (phases[blueprint.name] + _GOLDEN) % 1.0
