"""Drawing a wording from a blueprint's pools."""

from __future__ import annotations

import random
import re
from collections.abc import Collection
from typing import Any, Final

from agentbound.data.blueprint import Blueprint
from agentbound.data.blueprint.wording import parse_wording
from agentbound.data.records import Sibling, SiblingName
from agentbound.errors import ContentError
from agentbound.generators.embedded.draws import Undrawable
from agentbound.generators.embedded.render import say
from agentbound.generators.embedded.scaffold import Drawn
from agentbound.generators.embedded.values import evaluate
from agentbound.generators.writer import DERIVED_FROM

__all__ = ["POOL_OF", "draw_wording", "word"]

POOL_OF: Final[dict[SiblingName, str]] = {"HS": "HS", "CM": "plain", "EB": "plain", "HB": "HB"}
"""CM and EB come from one pool: their texts cannot tell them apart."""


def draw_wording(
    blueprint: Blueprint,
    drawn: Drawn,
    sibling: SiblingName,
    rng: random.Random,
    exclude: Collection[int] = frozenset(),
    phase: float | None = None,
) -> tuple[Sibling, int] | None:
    """A wording and the index of its template in the pool; None where every template that fits is excluded.

    `phase` says how far through the fitting templates, as a share of them; without it chance does.
    """
    pool = blueprint.raw["texts"][POOL_OF[sibling]]
    fitting = [index for index, item in enumerate(pool) if index not in exclude and _fits(blueprint, drawn, item)]
    if not fitting:
        return None
    share = rng.random() if phase is None else phase % 1.0
    index = fitting[int(share * len(fitting))]
    return word(blueprint, drawn, sibling, index, rng), index


def word(blueprint: Blueprint, drawn: Drawn, sibling: SiblingName, index: int, rng: random.Random) -> Sibling:
    """The wording of one template. Raises `ContentError` where it cannot be written with these values."""
    pool = POOL_OF[sibling]
    item = blueprint.raw["texts"][pool][index]
    template = item["text"] if isinstance(item, dict) else item
    try:
        text, claims = say(parse_wording(template), drawn.draws, lambda count: int(rng.random() * count))
    except Undrawable as error:
        fault = blueprint.fault(
            ("texts", pool, index), f"the wording cannot be written: {error}", "give it a condition"
        )
        raise ContentError([fault]) from None
    return Sibling(
        instruction=_tidy(text), derived_from=DERIVED_FROM[sibling], claims=[c for c in map(_tidy, claims) if c]
    )


def _fits(blueprint: Blueprint, drawn: Drawn, item: Any) -> bool:
    if not isinstance(item, dict) or "if" not in item:
        return True
    try:
        return bool(evaluate(drawn.draws, item["if"]))
    except Undrawable as error:
        raise ContentError([blueprint.fault(("texts",), f"a wording's condition fails: {error}", "mend it")]) from None


def _tidy(text: str) -> str:
    """Spaces that an empty alternative leaves behind; lines stay lines."""
    text = re.sub(r"[ \t]+", " ", text)
    text = re.sub(r" ?\n ?", "\n", text)
    text = re.sub(r" (?=[,.;:?!])(?!\.\w)", "", text)
    return text.strip()
