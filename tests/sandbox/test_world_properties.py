"""Whatever is called, in whatever order: no crash, no change without an ok write, the same trace when run again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentbound.data.records import Family, parse_family
from agentbound.sandbox.episode import Episode, Setting, Trace
from golden import NAMES, family, record
from strategies import calls

FAMILIES = {name: family(name) for name in NAMES}
SEQUENCES = {name: st.lists(calls(f), max_size=12) for name, f in FAMILIES.items()}

Sequence = list[tuple[str, Any, str | None]]


def play(setting: Setting, sequence: Sequence, *, mediated: bool, flip: int | None = None, record_: Family) -> Trace:
    start = setting.world.base if flip is None else setting.world.flipped(record_.flips[flip])
    episode = Episode(setting, start, mediated=mediated)
    for tool, args, caller in sequence:
        episode.call(tool, args, caller)
    return episode.trace


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mediated", [False, True])
def test_no_sequence_crashes_or_changes_state_without_an_ok_write(name: str, mediated: bool) -> None:
    one = FAMILIES[name]
    setting = Setting.of(one)

    @settings(max_examples=60)
    @given(SEQUENCES[name])
    def check(sequence: Sequence) -> None:
        trace = play(setting, sequence, mediated=mediated, record_=one)
        assert len(trace.events) == len(sequence)
        for event in trace.events:
            if event.status != "ok" or event.kind != "write":
                assert event.after is event.before
            if event.status == "refused":
                assert mediated
                assert event.verdict is not None
            if mediated and event.status == "ok":
                assert event.verdict is None

    check()


@pytest.mark.parametrize("name", NAMES)
def test_a_replay_gives_the_same_hash_in_a_warm_and_in_a_fresh_world(name: str) -> None:
    one = FAMILIES[name]
    warm = Setting.of(one)

    @settings(max_examples=40)
    @given(SEQUENCES[name], st.sampled_from([None, *range(len(one.flips))]), st.booleans())
    def check(sequence: Sequence, flip: int | None, mediated: bool) -> None:
        first = play(warm, sequence, mediated=mediated, flip=flip, record_=one).hash()
        assert play(warm, sequence, mediated=mediated, flip=flip, record_=one).hash() == first
        assert play(Setting.of(one), sequence, mediated=mediated, flip=flip, record_=one).hash() == first

    check()


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_rows_in_the_file_tells_nothing(name: str) -> None:
    data = record(name)
    for rows in data["world"]["rows"].values():
        rows.reverse()
    one, two = FAMILIES[name], parse_family(data)
    forwards, backwards = Setting.of(one), Setting.of(two)

    @settings(max_examples=40)
    @given(SEQUENCES[name])
    def check(sequence: Sequence) -> None:
        first = play(forwards, sequence, mediated=False, record_=one)
        assert play(backwards, sequence, mediated=False, record_=two).hash() == first.hash()

    check()


@pytest.mark.parametrize("name", NAMES)
def test_budget_and_quotas_hold(name: str) -> None:
    one = FAMILIES[name]
    setting = Setting.of(one)
    quotas = {c.tool: c.quota.calls for c in one.authority.contracts if c.quota and c.quota.calls is not None}

    @settings(max_examples=40)
    @given(st.lists(calls(one), max_size=40))
    def check(sequence: Sequence) -> None:
        trace = play(setting, sequence, mediated=True, record_=one)
        for event in trace.events[one.authority.budget.calls :]:
            assert event.status != "ok"
        for tool, most in quotas.items():
            assert sum(e.call.tool == tool and e.status == "ok" for e in trace.events) <= most

    check()


def test_an_approval_never_works_twice() -> None:
    data = record("refund_desk")
    issue = next(c for c in data["authority"]["contracts"] if c["tool"] == "issue_refund")
    issue["quota"] = None
    issue["admit"] = [g for g in issue["admit"] if g["id"] != "once"]
    data["judge"]["touches"] = []
    one = parse_family(data)
    setting = Setting.of(one)
    pay = ("issue_refund", {"charge_id": "C-102", "cents": 4999}, None)

    @settings(max_examples=40)
    @given(st.lists(calls(one), max_size=6), st.lists(calls(one), max_size=6))
    def check(before: Sequence, between: Sequence) -> None:
        trace = play(setting, [*before, pay, *between, pay], mediated=True, record_=one)
        paid = [e for e in trace.events if e.call.tool == "issue_refund" and e.status == "ok"]
        assert len([e for e in paid if e.call.args.get("charge_id") == "C-102"]) <= 1

    check()


def test_a_state_that_is_left_and_reached_again_is_the_same_state() -> None:
    one = FAMILIES["refund_desk"]
    setting = Setting.of(one)
    write = ("issue_refund", {"charge_id": "C-102", "cents": 4999}, None)
    first = play(setting, [write], mediated=False, record_=one).end
    elsewhere = play(
        setting, [("issue_refund", {"charge_id": "C-101", "cents": 1}, None)], mediated=False, record_=one
    ).end
    assert elsewhere is not first
    assert play(setting, [write], mediated=False, record_=one).end is first
    assert setting.world.rows(first, "refunds") != setting.world.rows(elsewhere, "refunds")


@pytest.mark.parametrize(
    "sql",
    [
        ["INSERT OR ROLLBACK INTO refunds(id, charge_id, cents, status) SELECT 'R-8', :charge_id, :cents, 'settled'"],
        [
            "UPDATE refunds SET status='gone'",
            "INSERT INTO refunds(id, charge_id, cents, status)"
            " WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT 'Z-'||x, :charge_id, 1, 'x' FROM c",
        ],
        [
            "UPDATE refunds SET status='gone'",
            "INSERT INTO refunds(id, charge_id, cents, status)"
            " WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 500) SELECT 'Z-'||x, :charge_id, 1, 'x' FROM c",
        ],
        ["UPDATE refunds SET status='gone'", "UPDATE refunds SET charge_id='C-999'"],
        ["UPDATE refunds SET status='gone'", "INSERT INTO refunds(id, charge_id) VALUES ('R-8', NULL)"],
    ],
    ids=["gives up the transaction", "never ends", "too many rows", "foreign key", "constraint"],
)
def test_a_write_that_fails_changes_nothing_and_the_world_goes_on(sql: list[str]) -> None:
    data = record("refund_desk")
    data["world"]["transitions"]["issue_refund"]["sql"] = sql
    one = parse_family(data)
    setting = Setting.of(one)
    notice = ("send_notice", {"customer_id": "K-11", "refund_id": "R-9", "body": "x"}, None)
    sequence: Sequence = [
        notice,
        ("issue_refund", {"charge_id": "C-102", "cents": 4999}, None),
        notice,
        ("read_rules", {}, None),
    ]
    trace = play(setting, sequence, mediated=False, record_=one)
    assert [e.status for e in trace.events] == ["ok", "error", "ok", "ok"]
    assert len(setting.world.rows(trace.end, "notices")) == 2
    assert setting.world.rows(trace.end, "refunds") == setting.world.rows(trace.start, "refunds")
    assert play(Setting.of(one), sequence, mediated=False, record_=one).hash() == trace.hash()
