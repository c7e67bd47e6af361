"""What the samplers draw: in range, never twice, on the right side of the clock, and the same for the same chance."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbound.data.blueprint.kinds import FORMS, fields_of
from agentbound.generators.embedded.draws import Draws, Undrawable
from agentbound.generators.embedded.moments import draw_clock
from agentbound.generators.embedded.values import draw_values

SEEDS = st.integers(0, 10**9)


def drawn(specs: dict[str, Any], seed: int = 1) -> dict[str, Any]:
    draws = Draws(random.Random(seed))
    draw_clock(draws, {}, (2025, 2027))
    draw_values(draws, specs)
    return draws.values


EVERY_KIND: dict[str, Any] = {
    "fixed": "a text",
    "several": {"choice": ["one", "two"]},
    "record": {"choice": [{"id": "x", "size": 3}, {"id": "y", "size": 4}]},
    "whole": {"int": [1, 9]},
    "price": {"money": [100, 900, 50]},
    "double": {"calc": "price * 2"},
    "sometimes": {"flag": 0.5},
    "key": {"id": "@@-###"},
    "key_like": {"id": {"like": "key"}},
    "house": {"organisation": {}},
    "house_like": {"organisation": {"like": "house"}},
    "who": {"person": {"at": "house"}},
    "who_like": {"person": {"like": "who"}},
    "town": {"pool": "towns"},
    "due": {"day": [1, 5]},
    "seen": {"stamp": [-5, -1]},
    "later": {"stamp": [0, 2], "from": "seen"},
}


@given(SEEDS)
def test_every_kind_has_the_forms_it_is_said_to_have(seed: int) -> None:
    values = drawn(EVERY_KIND, seed)
    for name, spec in EVERY_KIND.items():
        assert fields_of(name, spec) <= set(values), name
    said = {f"clock.{form}" for form in FORMS["stamp"]}
    assert said <= set(values)


@given(SEEDS)
def test_equal_chance_gives_equal_values(seed: int) -> None:
    assert drawn(EVERY_KIND, seed) == drawn(EVERY_KIND, seed)


@given(SEEDS)
def test_values_keep_their_promises(seed: int) -> None:
    values = drawn(EVERY_KIND, seed)
    assert 1 <= values["whole"] <= 9
    assert values["price"] in range(100, 901, 50)
    assert values["double"] == 2 * values["price"]
    assert values["price.major"] == f"{values['price'] / 100:.2f}"
    assert re.fullmatch(r"[A-Z]{2}-[1-9]\d\d", values["key"])
    assert sum(a != b for a, b in zip(values["key"], values["key_like"], strict=True)) in (1, 2)
    assert values["who.email"].endswith(f"@{values['house.domain']}")
    assert values["house.domain"].endswith(".example")
    assert values["house_like"].startswith(values["house.short"])
    assert values["house_like"] != values["house"]
    assert values["who_like"] != values["who"]
    assert values["who_like.handle"] != values["who.handle"]
    assert values["seen"] < values["clock"] < values["due"] + "T24"
    assert values["later"] > values["seen"]
    assert values["clock.weekday"] not in ("Saturday", "Sunday")
    assert "2025" <= values["clock"] < "2028"


@given(SEEDS)
def test_a_stamp_of_today_keeps_to_its_side(seed: int) -> None:
    values = drawn(
        {"before": {"stamp": [0, 0]}, "after": {"stamp": [0, 0], "from": "before"}, "next": {"stamp": [1, 1]}}, seed
    )
    assert values["before"] < values["clock"] < values["next"]
    assert values["after"] > values["before"]
    assert values["before.day"] == values["clock.day"]


def test_nothing_comes_twice() -> None:
    values = drawn({f"p{i}": {"person": {}} for i in range(60)} | {f"k{i}": {"id": "K-##"} for i in range(60)})
    for form in ("first", "last", "handle"):
        assert len({values[f"p{i}.{form}"] for i in range(60)}) == 60
    assert len({values[f"k{i}"] for i in range(60)}) == 60


def test_what_is_used_up_is_said() -> None:
    with pytest.raises(Undrawable, match="wider"):
        drawn({f"k{i}": {"id": "K-#"} for i in range(10)})
    with pytest.raises(Undrawable, match="empty"):
        drawn({"low": {"int": [5, 9]}, "none": {"int": ["low", "low - 1"]}})


def test_conditions_of_values() -> None:
    specs = {
        "on": {"flag": 1},
        "word": {"if": "on", "then": "yes", "else": "no"},
        "number": {"if": "not on", "then": {"int": [1, 1]}, "else": {"int": [7, 7]}},
        "gone": {"if": "not on", "int": [1, 2]},
        "open": {"choice": [{"if": "not on", "then": "shut"}, "open"]},
    }
    values = drawn(specs)
    assert (values["word"], values["number"], values["open"]) == ("yes", 7, "open")
    assert "gone" not in values
