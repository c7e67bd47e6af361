"""What counts as having observed a fact."""

from __future__ import annotations

from typing import Any

import pytest

from agentbound.data.records import Evidence, parse_family
from agentbound.sandbox.episode import Episode, Event, Setting
from agentbound.sandbox.evidence import observed, shown
from golden import record

NOTHING = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def desk(sql: str, *observes: Any) -> Setting:
    """The refund desk with one more read, `look`."""
    data = record("refund_desk")
    data["tools"].append({"name": "look", "description": "Look.", "parameters": NOTHING})
    data["world"]["transitions"]["look"] = {"kind": "read", "sql": [sql], "observes": list(observes)}
    return Setting.of(parse_family(data))


def look(setting: Setting, tool: str = "look", args: Any = None) -> Event:
    return Episode(setting, setting.world.base, mediated=False).call(tool, args or {})


def fact(**fields: Any) -> Evidence:
    return Evidence(id=repr(fields), because="a fact", **fields)


ROW = fact(table="refunds", key="R-9", columns=["status"])
SCOPE = fact(table="refunds", scope={"charge_id": "C-102"}, columns=["status"])
EMPTY = fact(table="refunds", scope={"charge_id": "C-101"}, columns=["status"])
REFUNDS = {"table": "refunds", "key": "id"}
WHOLE = {**REFUNDS, "scope": {}}


@pytest.mark.parametrize(
    ("sql", "observes", "row", "scope", "empty"),
    [
        (
            "SELECT id, charge_id, status FROM refunds ORDER BY id",
            WHOLE,
            (("R-9", "voided"),),
            (("R-9", "voided"),),
            (),
        ),
        ("SELECT id, charge_id, status FROM refunds ORDER BY id", REFUNDS, (("R-9", "voided"),), None, None),
        ("SELECT id, status FROM refunds ORDER BY id", WHOLE, (("R-9", "voided"),), None, None),
        ("SELECT id, charge_id FROM refunds ORDER BY id", WHOLE, None, None, ()),
        ("SELECT charge_id, status FROM refunds ORDER BY id", WHOLE, None, None, ()),
        ("SELECT id, charge_id, status FROM refunds WHERE id='R-8' ORDER BY id", REFUNDS, None, None, None),
        ("SELECT id, charge_id, status FROM refunds WHERE 0 ORDER BY id", WHOLE, None, (), ()),
        ("SELECT id, charge_id, status FROM refunds ORDER BY id", {**WHOLE, "table": "charges"}, None, None, None),
    ],
    ids=[
        "the whole table",
        "rows without a scope",
        "no column to narrow by",
        "a column missing",
        "no key",
        "another row",
        "no rows at all",
        "another table",
    ],
)
def test_a_read_shows_rows_and_scopes(sql: str, observes: Any, row: Any, scope: Any, empty: Any) -> None:
    setting = desk(sql, observes)
    event = look(setting)
    assert [shown(setting.world, event, e) for e in (ROW, SCOPE, EMPTY)] == [row, scope, empty]


def test_a_narrower_read_shows_no_wider_scope() -> None:
    setting = desk("SELECT 1 AS one")
    narrow = look(setting, "list_refunds", {"charge_id": "C-102"})
    assert shown(setting.world, narrow, SCOPE) == (("R-9", "voided"),)
    for wider in (fact(table="refunds", scope={}), EMPTY):
        assert shown(setting.world, narrow, wider) is None


def test_without_columns_all_that_is_shown_is_the_evidence() -> None:
    setting = desk("SELECT status, id FROM refunds ORDER BY id", WHOLE)
    assert shown(setting.world, look(setting), fact(table="refunds", key="R-9")) == (("R-9", "R-9", "voided"),)


def test_writes_and_failed_reads_show_nothing() -> None:
    setting = desk("SELECT 1 AS one")
    paid = look(setting, "issue_refund", {"charge_id": "C-102", "cents": 4999})
    failed = look(setting, "get_charge", {"charge_id": "C-999"})
    charge = fact(table="charges", key="C-102", columns=["cents"])
    assert (paid.status, failed.status) == ("ok", "error")
    assert observed(setting.world, [paid, failed], [charge, ROW, SCOPE]) == set()


def test_what_is_shown_is_what_was_there_when_it_was_read() -> None:
    setting = desk("SELECT 1 AS one")
    episode = Episode(setting, setting.world.base, mediated=False)
    before = episode.call("list_refunds", {"charge_id": "C-102"})
    episode.call("issue_refund", {"charge_id": "C-102", "cents": 4999})
    after = episode.call("list_refunds", {"charge_id": "C-102"})
    assert shown(setting.world, before, SCOPE) == (("R-9", "voided"),)
    assert shown(setting.world, after, SCOPE) == (("R-42", "settled"), ("R-9", "voided"))
