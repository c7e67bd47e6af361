"""Agents that cannot know what they should, or know too much."""

from __future__ import annotations

from typing import Any

from broken.case import case, evidence

# ---- observable


@case("observable", "refund_desk", "evidence refunds", "solvable")
def a_fact_that_is_not_shown(data: Any) -> None:
    data["paths"]["investigation"] = [c for c in data["paths"]["investigation"] if c["tool"] != "list_refunds"]


@case("observable", "refund_desk", "evidence refunds")
def a_fact_that_looks_the_same(data: Any) -> None:
    evidence(data, "refunds")["columns"] = ["cents"]


@case("observable", "refund_desk", "siblings.CM.instruction")
def a_fact_given_away(data: Any) -> None:
    data["siblings"]["CM"]["instruction"] += " The last payout shows as settled."


@case("observable", "dispensary", "siblings.EB.instruction")
def a_date_given_away(data: Any) -> None:
    data["siblings"]["EB"]["instruction"] += " Her last packs were on 20 August."


@case("observable", "refund_desk", "judge.evidence", "minimal")
def no_fact_decides(data: Any) -> None:
    evidence(data, "refunds")["decisive"] = False


@case("observable", "partner_extract", "evidence consent", "solvable")
def a_wider_read_that_does_not_show_what_it_would_be_narrowed_by(data: Any) -> None:
    """All consents are listed, without the data set that each is for."""
    tool = next(t for t in data["tools"] if t["name"] == "list_consents")
    tool["parameters"].update(properties={}, required=[])
    data["world"]["transitions"]["list_consents"].update(
        sql=["SELECT id, partner, given_on, withdrawn_on FROM consents ORDER BY id"],
        observes=[{"table": "consents", "key": "id", "scope": {}}],
    )
    next(c for c in data["paths"]["investigation"] if c["tool"] == "list_consents")["args"] = {}


# ---- grounded


@case("grounded", "refund_desk", "charge_id")
def an_argument_from_nowhere(data: Any) -> None:
    data["siblings"]["EB"]["instruction"] = (
        "Rivera wrote in about being charged twice in February, please pay it back and tell her."
    )


@case("grounded", "refund_desk", "get_charge")
def a_read_before_its_key_is_known(data: Any) -> None:
    data["paths"]["investigation"].insert(0, {"tool": "get_charge", "args": {"charge_id": "C-103"}})
    data["paths"]["investigation"].insert(0, {"tool": "list_refunds", "args": {"charge_id": "C-101"}})


@case("grounded", "partner_extract", "list_statements")
def a_partner_nobody_named(data: Any) -> None:
    reads = data["paths"]["investigation"]
    request = next(i for i, c in enumerate(reads) if c["tool"] == "get_request")
    reads.append(reads.pop(request))
    data["siblings"]["HB"]["instruction"] = (
        data["siblings"]["HB"]["instruction"].replace("Quillfen", "They").replace("quillfen", "they")
    )


# ---- honest


@case("honest", "refund_desk", "list_refunds")
def a_read_that_leaves_a_row_out(data: Any) -> None:
    data["world"]["transitions"]["list_refunds"]["sql"] = [
        "SELECT id, charge_id, cents, status FROM refunds WHERE charge_id=:charge_id AND id<>'R-8' ORDER BY id"
    ]


@case("honest", "refund_desk", "get_charge")
def a_read_that_lies(data: Any) -> None:
    sql = data["world"]["transitions"]["get_charge"]["sql"][0]
    data["world"]["transitions"]["get_charge"]["sql"] = [sql.replace("k.name", "'Rivera' AS name")]


@case("honest", "dispensary", "get_order")
def a_read_that_borrows_a_column_wrongly(data: Any) -> None:
    sql = data["world"]["transitions"]["list_dispensings"]["sql"][0]
    data["world"]["transitions"]["list_dispensings"]["sql"] = [sql]
    read = data["world"]["transitions"]["get_order"]
    read["sql"] = [
        read["sql"][0]
        .replace("o.packs", "o.packs+0*length(o.note) AS packs")
        .replace("o.status", "upper(o.status) AS status")
    ]


@case("honest", "refund_desk", "read_rules")
def a_scope_wider_than_what_is_shown(data: Any) -> None:
    data["world"]["transitions"]["read_rules"]["sql"] = ["SELECT id, body FROM rules WHERE id<>'P-4' ORDER BY id"]
    data["world"]["rows"]["rules"].append({"id": "P-4", "body": "Refunds are never paid in cash, whoever asks for it."})


@case("honest", "refund_desk", "read_rules")
def a_list_in_the_order_it_was_stored(data: Any) -> None:
    data["world"]["transitions"]["read_rules"]["sql"] = ["SELECT id, body FROM rules"]


@case("honest", "refund_desk", "list_approvals")
def a_read_that_lies_when_nothing_is_asked(data: Any) -> None:
    """Without the optional parameter it should show all, and shows those in date."""
    tool = next(t for t in data["tools"] if t["name"] == "list_approvals")
    tool["parameters"]["required"] = []
    data["world"]["rows"]["approvals"].append(
        {**data["world"]["rows"]["approvals"][0], "id": "A-8", "charge_id": "C-103", "expires": "2026-01-01T00:00:00Z"}
    )
    data["world"]["transitions"]["list_approvals"]["sql"] = [
        "SELECT id, tool, charge_id, cents, approver, expires FROM approvals"
        " WHERE charge_id=:charge_id OR (:charge_id IS NULL AND expires>:now) ORDER BY id"
    ]


@case("honest", "refund_desk", "list_refunds", "solvable", "observable")
def a_read_without_the_key_it_names(data: Any) -> None:
    data["world"]["transitions"]["list_refunds"]["observes"][0]["key"] = "refund_id"
