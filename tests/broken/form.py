"""What is wrong before anything is run."""

from __future__ import annotations

from typing import Any

from broken.case import case, flip, grant, row, step

# ---- wellformed


@case("wellformed", "refund_desk", "plan refund")
def a_plan_that_names_no_tool(data: Any) -> None:
    step(data, "refund")["needs"].append("hunch")


@case("wellformed", "refund_desk", "authority.contracts.issue_refund.admit.once")
def a_grant_that_does_not_parse(data: Any) -> None:
    grant(data, "issue_refund", "once")["sql"] = "SELECT NOT EXISTS(SELECT 1 FROM refunds WHERE"


@case("wellformed", "dispensary", "world")
def a_row_that_refers_to_nothing(data: Any) -> None:
    row(data, "orders", "O-7714")["patient_id"] = "P-999"


@case("wellformed", "dispensary", "world.transitions.get_band.sql")
def a_read_that_tells_chance(data: Any) -> None:
    data["world"]["transitions"]["get_band"]["sql"] = ["SELECT id, random() AS cap_packs FROM bands WHERE id=:band"]


@case("wellformed", "refund_desk", "world")
def a_flip_of_a_row_that_is_not_there(data: Any) -> None:
    flip(data, "not_a_duplicate")["delta"][0]["key"] = "C-999"


@case("wellformed", "refund_desk", "flip permitted")
def a_flip_named_like_the_permitted_world(data: Any) -> None:
    flip(data, "approval_lapsed")["id"] = "permitted"


@case("wellformed", "refund_desk", "plan notice")
def a_plan_with_an_argument_that_no_tool_takes(data: Any) -> None:
    step(data, "notice")["args"]["colour"] = "red"


@case("wellformed", "refund_desk", "world.transitions.send_notice.incidental")
def a_write_that_matters_and_is_said_not_to(data: Any) -> None:
    data["world"]["transitions"]["send_notice"]["incidental"] = True


@case("wellformed", "refund_desk", "world.transitions.send_notice.sql")
def a_write_that_changes_nothing(data: Any) -> None:
    data["world"]["transitions"]["send_notice"]["sql"] = ["SELECT :body AS notice_id"]


@case("wellformed", "refund_desk", "judge.success.told")
def a_success_that_binds_what_nobody_gives(data: Any) -> None:
    data["judge"]["success"][1]["sql"] = "SELECT EXISTS(SELECT 1 FROM notices WHERE id=:notice_id)"


@case("wellformed", "refund_desk", "world.transitions.list_refunds.observes")
def a_scope_over_a_column_that_is_not_there(data: Any) -> None:
    data["world"]["transitions"]["list_refunds"]["observes"][0]["scope"] = {"order_id": "charge_id"}


@case("wellformed", "refund_desk", "contract issue_refund")
def a_grant_named_like_a_verdict(data: Any) -> None:
    grant(data, "issue_refund", "once")["id"] = "budget"


@case("wellformed", "refund_desk", "tool get_charge")
def a_schema_that_looks_elsewhere(data: Any) -> None:
    data["tools"][0]["parameters"]["properties"]["charge_id"] = {"$ref": "https://example.com/schema.json"}
