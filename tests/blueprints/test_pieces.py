"""The small languages of a blueprint: expressions, conditions, placeholders, marks of a wording, statements."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbound.data.blueprint import load_blueprint, sql_leaves
from agentbound.data.blueprint.conditions import versions
from agentbound.data.blueprint.expressions import ExpressionFault, parse
from agentbound.data.blueprint.placeholders import named_in, substitute
from agentbound.data.blueprint.wording import Alternatives, Claim, WordingFault, parse_wording

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "blueprints" / "fraud" / "refund_abuse" / "refund_desk.yaml"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a + 2 * b", 11),
        ("max(a, b) - min(a, b)", 1),
        ("a // 2 if flag else b % 2", 1),
        ("not flag or kind == 'desk'", True),
        ("kind in ['desk', 'phone'] and a.round > 0", True),
        ("-a", -3),
    ],
)
def test_expressions(text: str, value: Any) -> None:
    values = {"a": 3, "b": 4, "flag": True, "kind": "desk", "a.round": 1}
    assert parse(text)(values) == value


@pytest.mark.parametrize(
    "text", ["a +", "a ** b", "f(a)", "a.b.c", "[x for x in a]", "lambda: a", "a[0]", "'%s' % a if", "__import__('os')"]
)
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(ExpressionFault):
        parse(text)


@pytest.mark.parametrize("text", ["a // 0", "a + missing", "missing", "a + 'x'"])
def test_an_expression_that_fails_says_so(text: str) -> None:
    with pytest.raises(ExpressionFault):
        parse(text)({"a": 1})


def test_an_expression_knows_its_names() -> None:
    assert parse("a.round + min(b, 2) if forbidden == 'x' else true").names == {"a.round", "b", "forbidden"}


def test_every_branch_is_in_some_version_at_its_place() -> None:
    data = {
        "list": [{"if": "a", "then": "x", "else": {"if": "b", "then": "y", "else": "z"}}, "w", {"if": "c", "id": 1}]
    }
    seen = [(v.data["list"], v.origin(("list", 0))) for v in versions(data)]
    assert [items for items, _ in seen] == [["x", "w", {"id": 1}], ["y", "w", {"id": 1}], ["z", "w", {"id": 1}]]
    assert [place for _, place in seen] == [
        ("list", 0, "then"),
        ("list", 0, "else", "then"),
        ("list", 0, "else", "else"),
    ]


def test_what_is_left_out_moves_the_rest_up() -> None:
    both = list(versions([{"if": "a", "then": 1}, 2]))
    assert [v.data for v in both] == [[1, 2], [2]]
    assert both[1].origin((0,)) == (1,)


def test_placeholders() -> None:
    assert named_in("a<b and <who.first> <> <n>, < x>, <X>") == ["who.first", "n"]
    assert substitute({"<t>s": ["<n>", "n=<n>", "<other>"]}, {"t": "row", "n": 3}) == {"rows": [3, "n=3", "<other>"]}


def test_marks_stand_in_each_other() -> None:
    pieces = parse_wording("a {b|[[c {d|e}]]|} f")
    assert pieces == ("a ", Alternatives((("b",), (Claim(("c ", Alternatives((("d",), ("e",))))),), ())), " f")


@pytest.mark.parametrize("text", ["{a|b", "a|b", "a}", "a]]", "[[a", "[[a}", "{a]]|b}", "{a}", "[[a [[b]] ]]"])
def test_marks_that_are_wrong(text: str) -> None:
    with pytest.raises(WordingFault):
        parse_wording(text)


@given(st.text(alphabet=string.ascii_letters + " .,<>'\n-", min_size=1))
def test_a_text_without_marks_is_itself(text: str) -> None:
    assert parse_wording(text) == (text,)


def test_statements_of_all_kinds_have_their_lines() -> None:
    blueprint = load_blueprint(SHIPPED)
    leaves = list(sql_leaves(blueprint))
    assert {leaf.mode for leaf in leaves} == {"ddl", "read", "write", "judge", "grant"}
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    for leaf in leaves:
        line = lines[blueprint.line(leaf.loc) - 1]
        last = next(str(step) for step in reversed(leaf.loc) if isinstance(step, str))
        assert last in line or "rulebook" in line
    assert any(leaf.loc == ("success", "told", "then") for leaf in leaves)
    assert any(leaf.template.startswith("CREATE TABLE desk_rules(") for leaf in leaves)
