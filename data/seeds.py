"""Seeds: what each family starts from, and the chance that belongs to it."""

from __future__ import annotations

import hmac
import random
from collections.abc import Iterator, Sequence

from agentbound.data.blueprint import Blueprint
from agentbound.data.chance import rng_of
from agentbound.data.records import Record
from agentbound.errors import UsageError

__all__ = ["Seed", "plan_seeds"]


class Seed(Record):
    """A source scenario of one risk class.

    `id` is the slot in the plan (`fraud.refund_abuse.0003`) and names the family. `text` is the scenario in words,
    `provenance` where it comes from. For the embedded generator `blueprint` and `forbidden` (the flip of the forbidden
    world) are set. `random_seed` is 64 hexadecimal digits from which all chance of the family is derived.
    """

    id: str
    category: str
    risk_class: str
    text: str
    provenance: str
    blueprint: str | None = None
    forbidden: str | None = None
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
        turns = _turns(sorted(of_class, key=lambda b: b.name), secret_seed) if count else iter(())
        for number in range(count):
            blueprint, flip = next(turns)
            slot = f"{category}.{risk_class}.{number:04}"
            seeds.append(
                Seed(
                    id=slot,
                    category=category,
                    risk_class=risk_class,
                    text=blueprint.theme,
                    provenance=f"blueprint {blueprint.name}, flip {flip}",
                    blueprint=blueprint.name,
                    forbidden=flip,
                    random_seed=hmac.digest(secret_seed, f"seed/{slot}".encode(), "sha256").hex(),
                )
            )
    return seeds


def _turns(blueprints: list[Blueprint], secret: bytes) -> Iterator[tuple[Blueprint, str]]:
    """Blueprint after blueprint, each with its next flip, for ever."""
    order = list(blueprints)
    rng_of(secret, "blueprints", *(b.name for b in blueprints)).shuffle(order)
    flips = {}
    for blueprint in order:
        mine = sorted(blueprint.flips)
        rng_of(secret, "flips", blueprint.name).shuffle(mine)
        flips[blueprint.name] = mine
    turn = 0
    while True:
        for blueprint in order:
            mine = flips[blueprint.name]
            yield blueprint, mine[turn % len(mine)]
        turn += 1
