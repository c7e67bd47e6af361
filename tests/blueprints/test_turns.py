"""Turns of flips: inserts and deletes of a table in balance, the other form where they are not, telltales rarely."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbound.data.blueprint import Blueprint, Turn, flip_shapes, load_blueprint, turns
from agentbound.data.blueprint.turns import PATIENCE

MODEL = Path(__file__).resolve().parents[2] / "data" / "blueprints" / "fraud" / "refund_abuse" / "refund_desk.yaml"

INSERT: dict[str, Any] = {"op": "insert", "table": "holds", "row": {"id": "H", "object_id": "<a>"}}
DELETE: dict[str, Any] = {"op": "delete", "table": "holds", "key": "<h>"}
UPDATE: dict[str, Any] = {"op": "update", "table": "holds", "key": "<h>", "set": {"until": "<day>"}}
WORDED: dict[str, Any] = {"op": "update", "table": "holds", "key": "<h>", "set": {"state": "closed"}}
EMPTIED: dict[str, Any] = {"op": "update", "table": "holds", "key": "<h>", "set": {"lifted_on": None}}
AWAY: dict[str, Any] = {"elsewhere": {"object_id": "<b>"}}


@pytest.fixture(scope="module")
def model() -> Blueprint:
    return load_blueprint(MODEL)


def blueprint(model: Blueprint, **deltas: Any) -> Blueprint:
    flips = [{"id": name, "delta": [delta]} for name, delta in deltas.items()]
    return replace(model, flips=tuple(deltas), raw={**model.raw, "flips": flips})


def first(blueprint: Blueprint, count: int, seed: int = 1) -> list[Turn]:
    return list(itertools.islice(turns(blueprint, random.Random(seed)), count))


def test_shapes(model: Blueprint) -> None:
    mine = blueprint(model, a=INSERT, b={**DELETE, **AWAY}, c=UPDATE, d=WORDED, e=EMPTIED)
    shapes = flip_shapes(mine)
    assert [(s.sign, s.worded, s.movable) for s in shapes.values()] == [
        (1, False, False),
        (-1, False, True),
        (0, False, False),
        (0, True, False),
        (0, True, False),
    ]
    assert [f for f, s in shapes.items() if s.plain] == ["c"]


def test_a_flip_under_a_condition_counts_and_one_that_may_not_be_forbidden_does_not(model: Blueprint) -> None:
    flips = [
        {"if": "x", "then": {"id": "a", "delta": [UPDATE]}, "else": {"id": "b", "delta": [INSERT]}},
        {"id": "c", "forbidden": False, "delta": [UPDATE]},
    ]
    assert list(flip_shapes(replace(model, raw={**model.raw, "flips": flips}))) == ["a", "b"]


@given(seed=st.integers(0, 1000), movable=st.booleans())
def test_as_written_inserts_and_deletes_of_a_table_stay_in_balance(model: Blueprint, seed: int, movable: bool) -> None:
    away = AWAY if movable else {}
    mine = blueprint(model, a={**INSERT, **away}, b={**INSERT, **away}, c={**DELETE, **away}, d=UPDATE)
    sign = {"a": 1, "b": 1, "c": -1, "d": 0}
    made = first(mine, 60, seed)
    written = Counter[str](t.flip for t in made if not t.elsewhere)
    tilt = sum(sign[flip] * n for flip, n in written.items())
    # What has no other form may not be left out for ever, so it tilts the balance now and then.
    assert abs(tilt) <= (1 if movable else 60 / len(sign) / PATIENCE + 3)
    assert {t.flip for t in made} == set(sign)


def test_what_has_no_counterpart_takes_its_other_form_always(model: Blueprint) -> None:
    mine = blueprint(model, a={**INSERT, **AWAY}, b=UPDATE)
    assert {t.elsewhere for t in first(mine, 40) if t.flip == "a"} == {True}
    assert {t.elsewhere for t in first(mine, 40) if t.flip == "b"} == {False}


def test_what_gives_itself_away_waits(model: Blueprint) -> None:
    counts = Counter(t.flip for t in first(blueprint(model, a=WORDED, b=INSERT, c=UPDATE, d=UPDATE), 80))
    assert counts["c"] / counts["a"] == pytest.approx(PATIENCE, rel=0.15)
    assert counts["c"] / counts["b"] == pytest.approx(PATIENCE, rel=0.15)
    assert [t.flip for t in first(blueprint(model, a=WORDED), 3)] == ["a"] * 3
