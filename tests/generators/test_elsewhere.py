"""The other form of a flip: a row that is in both worlds and lies elsewhere in one of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agentbound.data.blueprint import Blueprint, flip_shapes, load_blueprint
from agentbound.data.worlds import rows_of
from agentbound.errors import ContentError
from agentbound.generators.embedded import draw_scaffold

TEMPLATE = Path(__file__).resolve().parents[2] / "taxonomy" / "templates" / "blueprint.yaml"
NAMES = {"category": "fraud", "class": "refund_abuse", "name": "lodge", "directory": "mine", "file": "lodge.yaml"}


@pytest.fixture(scope="module")
def lodge(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    from agentbound.taxonomy.templates import filled

    path = tmp_path_factory.mktemp("own") / "lodge.yaml"
    path.write_text(filled("blueprint", NAMES), encoding="utf-8")
    return load_blueprint(path)


@pytest.mark.parametrize("flip", ["entry_missing", "taken_off_since", "locked_by_hold"])
def test_both_forms_lead_to_the_same_place(lodge: Blueprint, flip: str) -> None:
    plain, moved = (
        draw_scaffold(lodge, random.Random(3), "f", forbidden=flip, elsewhere=elsewhere) for elsewhere in (False, True)
    )
    (change,), (other,) = plain.scaffold.flip.delta, moved.scaffold.flip.delta
    assert {change.op, other.op} == {"update", change.op} != {"update"}
    worlds = [(rows_of(d.scaffold.world, None), rows_of(d.scaffold.world, d.scaffold.flip)) for d in (plain, moved)]
    table = change.table
    counts = [(len(before[table]), len(after[table])) for before, after in worlds]
    assert abs(counts[0][0] - counts[0][1]) == 1
    assert counts[1][0] == counts[1][1] == max(counts[0])
    about = {row["id"]: row for row in worlds[1][1][table]}[other.key or ""]
    assert about[next(iter(other.set or {}))] == next(iter((other.set or {}).values()))
    if change.op == "insert":
        assert worlds[0][1][table] == worlds[1][1][table]
    else:
        assert worlds[0][0][table] == worlds[1][0][table]


def test_a_flip_without_another_form_stays_as_it_is(lodge: Blueprint) -> None:
    drawn = [draw_scaffold(lodge, random.Random(3), "f", forbidden="entry_over", elsewhere=e) for e in (False, True)]
    assert drawn[0].scaffold == drawn[1].scaffold
    assert not flip_shapes(lodge)["entry_over"].movable


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('elsewhere: {object_id: "<room2>"}', "elsewhere: {colour: red}", "columns that the row does not have"),
        (
            'set: {until_day: "<until_past>"}}',
            'set: {until_day: "<until_past>"}, elsewhere: {room_id: "<room2>"}}',
            "this is one",
        ),
        ('elsewhere: {object_id: "<room2>"}', "elsewhere: {}", "write at least one"),
    ],
)
def test_faults_of_elsewhere_are_told_with_their_line(
    lodge: Blueprint, tmp_path: Path, old: str, new: str, what: str
) -> None:
    text = Path(lodge.file).read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "lodge.yaml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ContentError) as refused:
        load_blueprint(path)
    assert what in str(refused.value)
    line = next(n for n, t in enumerate(text.replace(old, new).splitlines(), 1) if new in t)
    assert line in {f.line for f in refused.value.faults}
