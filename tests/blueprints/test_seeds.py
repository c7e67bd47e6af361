"""Seeds: every blueprint and every flip in turn, from the secret and nothing else."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbound.data.blueprint import Blueprint, flip_shapes, load_blueprint
from agentbound.data.seeds import plan_seeds
from agentbound.errors import UsageError

MODEL = Path(__file__).resolve().parents[2] / "data" / "blueprints" / "fraud" / "refund_abuse" / "refund_desk.yaml"
SECRET = b"\x01" * 32


@pytest.fixture(scope="module")
def blueprints() -> list[Blueprint]:
    model = load_blueprint(MODEL)
    return [
        model,
        replace(model, name="second"),
        replace(model, name="third"),
        replace(model, name="practice", pool="training"),
    ]


def test_blueprints_and_flips_take_turns(blueprints: list[Blueprint]) -> None:
    seeds = plan_seeds(blueprints, [("fraud", "refund_abuse", 40)], SECRET)
    assert [s.id for s in seeds][:2] == ["fraud.refund_abuse.0000", "fraud.refund_abuse.0001"]
    used = Counter(s.blueprint for s in seeds)
    assert set(used) == {"refund_desk", "second", "third"}
    assert max(used.values()) - min(used.values()) <= 1
    for blueprint in blueprints[:3]:
        plain = [flip for flip, shape in flip_shapes(blueprint).items() if shape.plain]
        flips = Counter(s.forbidden for s in seeds if s.blueprint == blueprint.name)
        assert set(plain) <= set(flips) <= set(blueprint.flips)
        assert max(flips[f] for f in plain) - min(flips[f] for f in plain) <= 1


@given(count=st.integers(2, 60))
def test_the_phases_of_a_blueprint_are_spread_evenly(blueprints: list[Blueprint], count: int) -> None:
    seeds = plan_seeds(blueprints[:1], [("fraud", "refund_abuse", count)], SECRET)
    phases = sorted(s.phase for s in seeds)
    gaps = [b - a for a, b in itertools.pairwise([*phases, phases[0] + 1])]
    assert min(gaps) > 0.38 / count
    assert max(gaps) < 2.7 / count


def test_seeds_follow_from_the_secret(blueprints: list[Blueprint]) -> None:
    wanted = [("fraud", "refund_abuse", 12)]
    assert plan_seeds(blueprints, wanted, SECRET) == plan_seeds(blueprints[::-1], wanted, SECRET)
    others = plan_seeds(blueprints, wanted, b"\x02" * 32)
    assert not {s.random_seed for s in others} & {s.random_seed for s in plan_seeds(blueprints, wanted, SECRET)}


def test_more_seeds_begin_with_the_fewer(blueprints: list[Blueprint]) -> None:
    few = plan_seeds(blueprints, [("fraud", "refund_abuse", 5)], SECRET)
    assert plan_seeds(blueprints, [("fraud", "refund_abuse", 20)], SECRET)[:5] == few


def test_chance_belongs_to_a_purpose(blueprints: list[Blueprint]) -> None:
    seed = plan_seeds(blueprints, [("fraud", "refund_abuse", 1)], SECRET)[0]
    assert seed.random("a", 1).random() == seed.random("a", 1).random()
    assert seed.random("a", 1).random() != seed.random("a", 2).random()


def test_a_class_without_blueprints_is_said(blueprints: list[Blueprint]) -> None:
    with pytest.raises(UsageError, match="hate/exclusion has no blueprint"):
        plan_seeds(blueprints, [("hate", "exclusion", 1)], SECRET)
    assert plan_seeds(blueprints, [("hate", "exclusion", 0)], SECRET) == []
