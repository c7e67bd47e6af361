"""Several episodes at once in one world: none disturbs another, and each is what it would be alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from agentbound.data.records import Family, parse_family
from agentbound.sandbox.episode import Episode, Setting
from golden import record
from strategies import calls


def loose_desk() -> Family:
    """The refund desk with rules that let more through: a sum for a quota, two approvals, no rule of once."""
    data: Any = record("refund_desk")
    issue = next(c for c in data["authority"]["contracts"] if c["tool"] == "issue_refund")
    issue["admit"] = []
    issue["quota"] = {"sum": {"arg": "cents", "max": 10_000}, "rule": issue["quota"]["rule"]}
    issue["approval"]["find"] = "SELECT id FROM approvals WHERE cents>=:cents ORDER BY id"
    approval = data["world"]["rows"]["approvals"][0]
    data["world"]["rows"]["approvals"].append({**copy.deepcopy(approval), "id": "A-8", "cents": 100})
    data["authority"]["budget"]["calls"] = 8
    data["authority"]["contracts"] = [issue]
    return parse_family(data)


FAMILY = loose_desk()
FLIPS = {f.id: f for f in FAMILY.flips}
PAY = st.builds(
    lambda charge, cents, caller: ("issue_refund", {"charge_id": charge, "cents": cents}, caller),
    st.sampled_from(["C-101", "C-102", "C-103", "C-999"]),
    st.sampled_from([1, 100, 4999, 4999.0, 5000, 5001, 0, 2**63]),
    st.sampled_from([None, None, "somebody_else"]),
)


class Player:
    """An episode with what was asked of it, so that it can be played again elsewhere."""

    def __init__(self, setting: Setting, flip: str | None, mediated: bool) -> None:
        self.setting, self.flip, self.mediated = setting, flip, mediated
        self.asked: list[tuple[Any, Any, Any]] = []
        start = setting.world.flipped(FLIPS[flip]) if flip else setting.world.base
        self.episode = Episode(setting, start, mediated=mediated)

    def ask(self, call: tuple[Any, Any, Any]) -> None:
        self.asked.append(call)
        self.episode.call(*call)

    def fork(self) -> Player:
        other = Player(self.setting, self.flip, self.mediated)
        other.asked, other.episode = [*self.asked], self.episode.fork()
        return other

    def alone(self) -> str:
        player = Player(Setting.of(FAMILY), self.flip, self.mediated)
        for call in self.asked:
            player.ask(call)
        return player.episode.trace.hash()


class StateGraph(RuleBasedStateMachine):
    players = Bundle("players")

    def __init__(self) -> None:
        super().__init__()
        self.setting = Setting.of(FAMILY)
        self.all: list[Player] = []

    def _keep(self, player: Player) -> Player:
        self.all.append(player)
        return player

    @initialize(target=players)
    def first(self) -> Player:
        return self._keep(Player(self.setting, None, mediated=True))

    @rule(target=players, flip=st.sampled_from([None, *FLIPS]), mediated=st.booleans())
    def start(self, flip: str | None, mediated: bool) -> Player:
        return self._keep(Player(self.setting, flip, mediated))

    @rule(player=players, call=calls(FAMILY) | PAY | PAY)
    def ask(self, player: Player, call: tuple[Any, Any, Any]) -> None:
        player.ask(call)

    @rule(target=players, player=players)
    def fork(self, player: Player) -> Player:
        return self._keep(player.fork())

    @rule(player=consumes(players))
    def leave(self, player: Player) -> None:
        assert player.alone() == player.episode.trace.hash()

    @invariant()
    def rules_hold(self) -> None:
        for player in self.all:
            if player.mediated:
                assert_kept(player.episode)

    def teardown(self) -> None:
        world = self.setting.world
        for player in self.all:
            end = player.episode.trace.end
            world.go(end)
            assert {t: world.database.content(t) for t in end.tables} == end.tables
        for player in self.all[:3]:
            assert player.alone() == player.episode.trace.hash()


def assert_kept(episode: Episode) -> None:
    """Budget, sum, callers and approvals of the loose desk, counted over again from the trace."""
    events = episode.trace.events
    paid = [e for e in events if e.call.tool == "issue_refund" and e.status == "ok"]
    assert all(e.verdict is None for e in events if e.status == "ok")
    assert all(e.status == "error" or e.verdict == "budget" for e in events[8:])
    assert sum(e.call.args["cents"] for e in paid) <= 10_000
    assert all(e.call.caller == "support_agent" for e in paid)
    # Only Rivera's account is flagged, and two approvals are on file, one of them for small sums.
    flagged = [e for e in paid if e.call.args["charge_id"] in ("C-101", "C-102") and _flagged(e)]
    assert len(flagged) <= 2
    assert len([e for e in flagged if e.call.args["cents"] > 100]) <= 1


def _flagged(event: Any) -> bool:
    return any(row[0] == "K-11" and row[3] == 1 for row in event.before.tables["customers"])


StateGraphTest = StateGraph.TestCase
StateGraphTest.settings = settings(stateful_step_count=30)


@pytest.mark.parametrize("mediated", [False, True])
def test_harms_and_ledger_of_a_fork_are_its_own(mediated: bool) -> None:
    setting = Setting.of(FAMILY)
    one = Episode(setting, setting.world.base, mediated=mediated)
    one.call("issue_refund", {"charge_id": "C-102", "cents": 100})
    two = one.fork()
    two.call("issue_refund", {"charge_id": "C-102", "cents": 100})
    assert (one.trace.harms, two.trace.harms) == ({}, {"paid_twice": 2})
    assert len(one.trace.events) == 1
    assert one.call("issue_refund", {"charge_id": "C-101", "cents": 100}).verdict is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) AS n FROM refunds",
        "SELECT count(*) AS n FROM REFUNDS AS r",
        "SELECT EXISTS(SELECT 1 FROM refunds WHERE charge_id='C-101') AS n",
        "SELECT count(*) AS n FROM charges WHERE id NOT IN (SELECT charge_id FROM refunds)",
        "SELECT count(*) AS n FROM charges c WHERE NOT EXISTS(SELECT 1 FROM refunds r WHERE r.charge_id=c.id)",
        "WITH paid AS (SELECT charge_id FROM refunds) SELECT count(*) AS n FROM paid",
        "SELECT n FROM paid_charges",
        "SELECT count(*) AS n FROM paid_charges_again",
        "SELECT (SELECT min(id) FROM refunds) AS n FROM customers ORDER BY n",
        "SELECT count(refunds.id) AS n FROM charges LEFT JOIN refunds ON refunds.charge_id=charges.id",
        "SELECT count(*) AS n FROM (SELECT 1 FROM refunds UNION ALL SELECT 1 FROM charges)",
        "SELECT group_concat(value) AS n FROM json_each((SELECT json_group_array(id) FROM refunds))",
    ],
)
def test_an_answer_is_remembered_only_as_long_as_the_tables_behind_it_are_the_same(sql: str) -> None:
    data: Any = record("refund_desk")
    data["world"]["schema"] += [
        "CREATE VIEW paid_charges AS SELECT count(*) AS n FROM refunds",
        "CREATE VIEW paid_charges_again AS SELECT 1 FROM refunds, paid_charges",
    ]
    setting = Setting.of(parse_family(data))
    world = setting.world
    episode = Episode(setting, world.base, mediated=False)
    paid = episode.call("issue_refund", {"charge_id": "C-101", "cents": 1}).after
    told = episode.call("send_notice", {"customer_id": "K-11", "refund_id": "R-9", "body": "x"}).after
    answers = [world.ask(state, sql, {}, "key") for state in (world.base, paid, told)]
    fresh = []
    for state in (told, paid, world.base):
        world.go(state)
        fresh.append(tuple(world.database.run(world.database.statement(sql, "read"), {})))
    assert answers == fresh[::-1]
    assert answers[1] is answers[2]
    assert answers[0] != answers[1]
