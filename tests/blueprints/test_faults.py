"""A blueprint file with a fault is refused with the line of it, and all its faults come at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from agentbound.data.blueprint import Blueprint, load_blueprint, load_blueprints
from agentbound.errors import ContentError, Fault

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "blueprints" / "fraud" / "refund_abuse" / "refund_desk.yaml"

Edit = Callable[..., list[Fault]]


class Ids:
    """A small taxonomy."""

    patterns: ClassVar = {
        "misuse": {"double_payout", "wrong_object", "lapsed_permission"},
        "disguise": {"routine_ticket", "customer_waiting", "forwarded_request", "checklist_item"},
        "authorization": {"written_approval", "newest_entry"},
        "containment": {"stop_and_report", "return_to_sender", "hold_and_flag"},
    }

    def class_ids(self, category: str) -> set[str] | None:
        return {"fraud": {"refund_abuse"}}.get(category)

    def domain_ids(self) -> set[str]:
        return {"customer_and_policy"}

    def pattern_ids(self, kind: str, category: str) -> set[str]:
        return set(self.patterns[kind])


@pytest.fixture
def faults(tmp_path: Path) -> Edit:
    """Loads the shipped model with some texts replaced, and gives its faults."""

    def edited(*changes: tuple[str, str], name: str = "refund_desk") -> list[Fault]:
        text = SHIPPED.read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            load_blueprint(path, taxonomy=Ids())
        except ContentError as error:
            return error.faults
        return []

    return edited


def line_of(text: str) -> int:
    return 1 + SHIPPED.read_text(encoding="utf-8")[: SHIPPED.read_text(encoding="utf-8").index(text)].count("\n")


def test_the_model_has_no_fault(faults: Edit) -> None:
    assert faults() == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("mandate: Pay", "mandates: Pay", "mandate"),
        ("category: fraud", "category: frod", "no category frod"),
        ("risk_class: refund_abuse", "risk_class: refunds", "no class refunds"),
        ("domain: customer_and_policy", "domain: shops", "no domain shops"),
        ("      then: double_payout", "      then: arson", "no misuse pattern arson"),
        ("  - tool: pay_back", "  - tool: pay_bakc", "no tool pay_bakc"),
        ("    tool: send_notice", "    tool: send_word", "no tool send_word"),
        ("  - list_reviews: {customer_id: <k>}", "  - list_revs: {customer_id: <k>}", "no tool list_revs"),
        ("  - list_reviews: {customer_id: <k>}", "  - list_reviews: {who: <k>}", "no parameter of list_reviews who"),
        ("  - list_reviews: {customer_id: <k>}", "  - pay_back: {charge_id: <twin>, cents: 1}", "pay_back is a write"),
        ("decides: [payouts]", "decides: [payout]", "no evidence payout"),
        ("needs: [account]", "needs: [acount]", "no evidence acount"),
        ("after: [payout]", "after: [pay]", "no earlier step pay"),
        ("refused_by: once", "refused_by: twice", "no grant twice"),
        ("rule: desk_rules/D-3", "rule: house_rules/D-3", "no table house_rules"),
        ("rule: desk_rules/D-3", "rule: D-3", "table/key"),
        ("  - insert payouts 1", "  - insert payout 1", "no table payout"),
        ("  - insert payouts 1", "  - add payouts 1", "insert TABLE N"),
        ("name: <who>, email", "name: <whom>, email", "<whom> is no value"),
        ("email: <who.email>", "email: <who.mail>", "<who.mail> is no value"),
        ("if: tell, then: insert", "if: tel, then: insert", "reads tel"),
        ("if: tell, then: insert", "if: tell and, then: insert", "does not parse"),
        ("if: tell, then: insert", "if: tell.__class__, then: insert", "reads tell.__class__"),
        ("{calc: amount + step}", "{calc: amount ** step}", "Pow"),
        ("{calc: amount + step}", "{calc: open(amount)}", "calls something else"),
        ("{calc: amount + step}", "{calc: amount + taken_again}", "taken_again"),
        ("fourth: {person: {}}", "fourth: {human: {}}", "no kind of value"),
        ("fourth: {person: {}}", "fourth: {person: {as: who}}", "no option as"),
        ("fourth: {person: {}}", "fourth: {pool: planets}", "no pool planets"),
        ("[-12, -8]", "[-8, -12]", "is empty"),
        ("from: taken}", "from: plan}", "no day or stamp"),
        ("part: rulebook", "part: rulebok", "no part rulebok"),
        ("what: the desk's rules", "whom: the desk's rules", "no parameter whom"),
        ("{Thanks!|Thank you.|Cheers.|}", "{Thanks!}", "braces hold one text"),
        ("{Thanks!|Thank you.|Cheers.|}", "{Thanks!|Thank you.", "not closed"),
        ("[[Note: <claim_filed>.]]", "[[Note: <claim_filed>.", "not closed"),
        ("    read: SELECT id, customer_id, opened", "    write: DELETE FROM reviews\n    read: SELECT id, customer_id, opened", "either"),
    ],
)  # fmt: skip
def test_a_fault_is_found_at_its_line(faults: Edit, old: str, new: str, what: str) -> None:
    found = faults((old, new))
    mine = [f for f in found if what in f.what]
    assert mine, found
    assert all(f.mend for f in mine)
    if "\n" not in new and "mandate" not in old:
        assert line_of(old) in {f.line for f in mine}


def test_all_faults_come_at_once(faults: Edit) -> None:
    found = faults(("decides: [payouts]", "decides: [x]"), ("refused_by: once", "refused_by: y"), ("<who.last>", "<z>"))
    assert {f.what for f in found} == {"there is no evidence x", "there is no grant y", "<z> is no value"}


def test_a_fault_in_either_branch_is_found(faults: Edit) -> None:
    one = faults(("{if: tell, then: insert notices 1}", "{if: tell, then: insert notices 1, else: insert nothing 1}"))
    assert [f.what for f in one] == ["there is no table nothing"]
    two = faults(("{if: tell, then: insert notices 1}", "{if: tell, then: insert nothing 1, else: insert notices 1}"))
    assert [f.what for f in two] == ["there is no table nothing"]


def test_a_table_under_a_condition_may_be_named_under_it(faults: Edit) -> None:
    columns = (
        "id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers(id), opened TEXT NOT NULL, closed TEXT"
    )
    assert faults((f"  reviews: {columns}", f'  reviews: {{if: tell, then: "{columns}"}}')) == []


def test_a_file_is_named_as_its_blueprint(faults: Edit) -> None:
    assert [f.what for f in faults(name="other")] == ["the blueprint is named refund_desk"]


def test_a_name_stands_once(tmp_path: Path) -> None:
    for directory in ("a", "b"):
        (tmp_path / "blueprints" / directory).mkdir(parents=True)
        (tmp_path / "blueprints" / directory / "refund_desk.yaml").write_text(SHIPPED.read_text(encoding="utf-8"))
    with pytest.raises(ContentError, match="refund_desk is also the name of"):
        load_blueprints(tmp_path, shipped=False)


def test_faults_of_all_files_come_together(tmp_path: Path) -> None:
    (tmp_path / "blueprints").mkdir()
    for name in ("one", "two"):
        (tmp_path / "blueprints" / f"{name}.yaml").write_text("- no mapping\n")
    with pytest.raises(ContentError) as caught:
        load_blueprints(tmp_path, shipped=False)
    assert len(caught.value.faults) == 2


def test_a_part_that_stands_twice_is_a_fault(faults: Edit) -> None:
    line = "  - {part: rulebook, table: desk_rules, tool: read_desk_rules, what: the desk's rules}\n"
    found = faults((line, line + line))
    assert {f.what for f in found} == {"tables has desk_rules already", "tools has read_desk_rules already"}


def test_a_loaded_blueprint_knows_its_flips_and_lines() -> None:
    blueprint: Blueprint = load_blueprint(SHIPPED)
    assert "approval_for_neighbour" not in blueprint.flips
    assert {"already_settled", "review_opened", "no_approval"} <= set(blueprint.flips)
    assert blueprint.line(("tools", "read_desk_rules", "read")) == line_of("  - {part: rulebook")
    assert blueprint.line(("tools", "pay_back", "write")) == line_of("    write: >-")
