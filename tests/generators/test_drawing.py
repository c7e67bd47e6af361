"""Families out of the model blueprint: the same for the same chance, whole records, proved when run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from agentbound.data.blueprint import Blueprint, load_blueprint
from agentbound.data.records import SIBLINGS, Family, Sibling, SiblingName
from agentbound.errors import ContentError, UsageError
from agentbound.generators.embedded import Drawn, draw_scaffold, draw_wording
from agentbound.generators.embedded.draws import Draws
from agentbound.generators.embedded.render import compile_node
from agentbound.generators.embedded.tools import tool_record, transition_record
from agentbound.generators.embedded.wording import POOL_OF, word

MODEL = Path(__file__).resolve().parents[2] / "data" / "blueprints" / "fraud" / "refund_abuse" / "refund_desk.yaml"


@pytest.fixture(scope="module")
def blueprint() -> Blueprint:
    return load_blueprint(MODEL)


def draw(blueprint: Blueprint, seed: int, forbidden: str | None = None) -> Drawn:
    return draw_scaffold(blueprint, random.Random(seed), "a-family", forbidden=forbidden)


def test_equal_chance_gives_equal_families(blueprint: Blueprint) -> None:
    assert draw(blueprint, 1).scaffold == draw(blueprint, 1).scaffold
    assert draw(blueprint, 1).fingerprint != draw(blueprint, 2).fingerprint


def test_the_hint_makes_the_forbidden_flip(blueprint: Blueprint) -> None:
    for seed, flip in enumerate(blueprint.flips):
        drawn = draw(blueprint, seed, flip)
        assert drawn.scaffold.forbidden == flip == drawn.scaffold.flip.id
        assert drawn.values["forbidden"] == flip
        decided = {e.id for e in drawn.scaffold.judge.evidence if e.decisive}
        raw = next(f for f in blueprint.raw["flips"] if f["id"] == flip)
        assert decided == set(raw["decides"])
    with pytest.raises(UsageError, match="no flip approval_for_neighbour"):
        draw(blueprint, 1, "approval_for_neighbour")


def test_conditions_change_the_structure(blueprint: Blueprint) -> None:
    scaffolds = [draw(blueprint, seed).scaffold for seed in range(20)]
    assert {s.protocol for s in scaffolds} == {"V1", "V2"}
    assert len({len(s.flips) for s in scaffolds}) > 1
    for scaffold in scaffolds:
        evidence = {e.id for e in scaffold.judge.evidence}
        assert {n for step in scaffold.judge.plan for n in step.needs} <= evidence


def test_free_text_stays_out_of_the_plan(blueprint: Blueprint) -> None:
    scaffold = next(s for s in (draw(blueprint, seed).scaffold for seed in range(20)) if s.protocol == "V2")
    assert "body" not in scaffold.judge.plan[1].args
    assert "second charge" in scaffold.paths.actions[1].args["body"]


def test_nothing_is_left_to_fill_in(blueprint: Blueprint) -> None:
    for seed in range(10):
        text = draw(blueprint, seed).scaffold.model_dump_json()
        assert not any(f"<{name}>" in text for name in draw(blueprint, seed).values)


@pytest.mark.parametrize("seed", range(7))
def test_drawn_families_are_proved(blueprint: Blueprint, seed: int) -> None:
    from agentbound.sandbox.proofs import prove

    drawn = draw(blueprint, seed, blueprint.flips[seed % len(blueprint.flips)])
    rng = random.Random(seed)
    siblings: dict[SiblingName, Sibling] = {}
    taken: set[int] = set()
    for name in SIBLINGS:
        made = draw_wording(blueprint, drawn, name, rng, taken if name == "EB" else ())
        assert made is not None
        siblings[name] = made[0]
        taken |= {made[1]} if name == "CM" else set()
    fields: dict[str, Any] = {f: getattr(drawn.scaffold, f) for f in type(drawn.scaffold).model_fields}
    certificate, findings = prove(Family(**fields, siblings=siblings))
    assert findings == []
    assert certificate is not None


def test_every_wording_can_be_written_and_its_claims_stand_in_it(blueprint: Blueprint) -> None:
    claims = 0
    for seed, flip in enumerate(blueprint.flips):
        drawn, rng = draw(blueprint, seed, flip), random.Random(seed)
        for name in SIBLINGS:
            size = len(blueprint.raw["texts"][POOL_OF[name]])
            for index in range(size):
                made = draw_wording(blueprint, drawn, name, rng, set(range(size)) - {index})
                if made is None:
                    continue
                sibling = made[0]
                assert made[1] == index
                assert not set("{}[]|<>") & set(sibling.instruction)
                assert "  " not in sibling.instruction
                assert all(claim in sibling.instruction for claim in sibling.claims)
                claims += len(sibling.claims)
    assert claims > 0


def test_a_wording_of_another_flip_is_not_drawn(blueprint: Blueprint) -> None:
    drawn = draw(blueprint, 1, "another_month")
    pool = blueprint.raw["texts"]["HS"]
    others = {i for i, t in enumerate(pool) if isinstance(t, dict) and "another_month" not in t["if"]}
    drawn_indexes = set()
    for seed in range(60):
        made = draw_wording(blueprint, drawn, "HS", random.Random(seed))
        assert made is not None
        drawn_indexes.add(made[1])
    assert drawn_indexes == set(range(len(pool))) - others
    assert draw_wording(blueprint, drawn, "HS", random.Random(1), set(range(len(pool)))) is None


def test_a_wording_that_reads_what_is_left_out_names_its_line(tmp_path: Path) -> None:
    text = MODEL.read_text(encoding="utf-8").replace("  HB:\n", "  HB:\n    - Wipe it, <maybe>.\n")
    path = tmp_path / "refund_desk.yaml"
    path.write_text(text.replace("values:\n", "values:\n  maybe: {if: false, then: never}\n"), encoding="utf-8")
    changed = load_blueprint(path)
    drawn = draw(changed, 1)
    with pytest.raises(ContentError, match=r"refund_desk\.yaml:\d+: the wording cannot be written: <maybe>"):
        word(changed, drawn, "HB", 0, random.Random(1))


def test_repeated_rows_draw_their_own_values() -> None:
    draws = Draws(random.Random(1), {"most": 4})
    rows = compile_node(
        [{"id": 0}, {"repeat": ["<most>", "most"], "with": {"k": {"id": "K-##"}}, "row": {"id": "<n>", "k": "<k>"}}]
    )(draws)
    assert [row["id"] for row in rows] == [0, 1, 2, 3, 4]
    assert len({row["k"] for row in rows[1:]}) == 4
    assert "k" not in draws.values


def test_parameters_of_tools() -> None:
    params = {
        "who": "text",
        "since?": "day",
        "kind": ["a", "b"],
        "n": {"type": "whole", "minimum": 1},
        "raw": {"type": "integer"},
    }
    record = tool_record("t", {"about": "About.", "params": params})
    assert record["parameters"]["required"] == ["who", "kind", "n", "raw"]
    properties = record["parameters"]["properties"]
    assert properties["n"] == {"type": "integer", "minimum": 1}
    assert properties["kind"]["enum"] == ["a", "b"]
    assert properties["since"]["pattern"].startswith("^")


def test_known_rows_are_conditions_of_existence() -> None:
    spec = {
        "params": {"a": "text", "b?": "text"},
        "known": {"a": ["t", "No a."], "b": ["u.name", "No b."]},
        "write": "DELETE FROM t\n  WHERE id=:a",
    }
    record = transition_record(spec)
    assert [r["sql"] for r in record["requires"]] == [
        "SELECT EXISTS(SELECT 1 FROM t WHERE id=:a)",
        "SELECT :b IS NULL OR EXISTS(SELECT 1 FROM u WHERE name=:b)",
    ]
    assert record["sql"] == ["DELETE FROM t WHERE id=:a"]
