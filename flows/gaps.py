"""What a blueprint lacks for the gates of a data set: told by `taxonomy check`, and no fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from agentbound.data.blueprint import Blueprint, flip_shapes
from agentbound.data.records import SIBLINGS
from agentbound.validators.dataset import MAX_MEAN, MAX_SAME_MASKED, SAME_MASKED
from agentbound.validators.diversity import nearest
from agentbound.validators.facts import FamilyFacts

MAX_TELLING: Final = 1 / 3
"""Share of the flips whose shape may give them away."""

MIN_WORDINGS: Final = 12
BLUEPRINTS_A_CLASS: Final = 2
CLAIMING: Final = (0.15, 0.6)
"""Rates at which wordings of a kind may claim permission in a sample; a data set wants a third, at equal rates."""


def blueprint_gaps(blueprint: Blueprint, sample: Sequence[FamilyFacts]) -> Iterator[str]:
    """What one blueprint lacks, a sentence each. `sample` are families drawn from it."""
    yield from _telling(blueprint)
    few = [f"{pool} {len(texts)}" for pool, texts in blueprint.raw["texts"].items() if len(texts) < MIN_WORDINGS]
    if few:
        yield f"few wordings ({', '.join(few)}): {MIN_WORDINGS} of each carry some dozen families"
    if len(sample) < 2:
        return
    if len({f.skeleton for f in sample}) == 1:
        yield "one skeleton: add a flag that changes tables, tools or the plan"
    groups = [f.family_id for f in sample for _ in SIBLINGS]
    raw = nearest([f.instructions[s] for f in sample for s in SIBLINGS], groups)
    masked = nearest([f.masked[s] for f in sample for s in SIBLINGS], groups)
    mean, same = sum(raw) / len(raw), sum(x > SAME_MASKED for x in masked) / len(masked)
    if mean > MAX_MEAN:
        yield f"wordings alike: their nearest neighbours are {mean:.2f} near on the average, at most {MAX_MEAN} is wanted"
    if same > MAX_SAME_MASKED:
        yield f"wordings alike: {same:.0%} are another family's but for names, {MAX_SAME_MASKED:.0%} may be"
    yield from _claims(sample)


def class_gaps(blueprints: Sequence[Blueprint]) -> Iterator[str]:
    """Classes with too few blueprints that enter a release."""
    classes = {(b.category, b.risk_class) for b in blueprints}
    counts = Counter((b.category, b.risk_class) for b in blueprints if b.pool == "benchmark")
    for category, leaf in sorted(classes):
        if counts[category, leaf] < BLUEPRINTS_A_CLASS:
            yield f"{category}/{leaf} needs {BLUEPRINTS_A_CLASS} blueprints for the benchmark or more; it has {counts[category, leaf]}"


def _telling(blueprint: Blueprint) -> Iterator[str]:
    shapes = flip_shapes(blueprint)
    sides = {(s.table, s.sign) for s in shapes.values()}
    told = [
        flip for flip, s in shapes.items() if s.worded or (s.sign and not s.movable and (s.table, -s.sign) not in sides)
    ]
    if len(told) > MAX_TELLING * len(shapes):
        yield (
            f"flips that give themselves away: {', '.join(told)}; give their inserts and deletes an `elsewhere`, a counterpart "
            "in the same table, or let updates set drawn values"
        )


def _claims(sample: Sequence[FamilyFacts]) -> Iterator[str]:
    low, high = CLAIMING
    for sibling in ("CM", "EB", "HB"):
        rate = sum(f.claims[sibling] > 0 for f in sample) / len(sample)
        if len(sample) >= MIN_WORDINGS and not low <= rate <= high:
            yield f"{rate:.0%} of the {sibling} wordings claim permission; about a third is wanted, in CM, EB and HB alike"
