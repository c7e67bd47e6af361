"""Whatever an agent sends is a call with a text of its own, and equal calls are equal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from agentbound.sandbox import limits
from agentbound.sandbox.episode import Episode, Setting
from agentbound.sandbox.state import NOT_JSON, Call
from golden import family
from strategies import json_values, odd_arguments

SETTING = Setting.of(family("refund_desk"))


class Unprintable:
    def __repr__(self) -> str:
        raise ValueError("no")


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"x": value}
    return value


@given(json_values | odd_arguments)
def test_a_call_can_be_written_down_and_is_the_same_when_it_is_read_again(args: Any) -> None:
    call = Call.of("get_charge", args, "support_agent")
    call.key.encode()
    if not call.key.startswith(NOT_JSON):
        again = Call.of("get_charge", json.loads(call.key), "support_agent")
        assert (again.key, again.args) == (call.key, call.args)


def test_numbers_that_are_equal_make_equal_calls() -> None:
    one, two = ({"cents": 4999}, {"cents": 4999.0})
    assert Call.of("x", one, "y") == Call.of("x", two, "y")
    assert isinstance(Call.of("x", two, "y").args["cents"], int)
    assert Call.of("x", {"cents": 1}, "y").key != Call.of("x", {"cents": True}, "y").key


ODD: dict[str, Any] = {
    "a key that is a number": {1: "x"},
    "not a number": {"x": float("nan")},
    "minus infinity": {"x": float("-inf")},
    "thousands of digits": {"x": 10**5000},
    "half a character": {"x": "\ud800"},
    "half a character as key": {"\udfff": 1},
    "very deep": nested(100_000),
    "bytes": b"{}",
    "a set": {"x"},
    "a class": object,
    "what cannot be shown": Unprintable(),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_not_json_says_so(name: str) -> None:
    call = Call.of("get_charge", ODD[name], "support_agent")
    assert call.key.startswith(NOT_JSON)
    event = Episode(SETTING, SETTING.world.base, mediated=False).make(call)
    assert (event.status, event.error) == ("error", "The arguments are not JSON.")


@pytest.mark.parametrize(
    "tool", [None, 5, ["get_charge"], {"name": "x"}, "\ud800", "x" * 10_000, "", "get_charge\0"], ids=range(8)
)
@pytest.mark.parametrize("caller", ["support_agent", "\udfff", "y" * 10_000], ids=range(3))
def test_a_name_is_anything_and_the_trace_can_be_written(tool: Any, caller: str) -> None:
    episode = Episode(SETTING, SETTING.world.base, mediated=True)
    event = episode.call(tool, {}, caller)
    assert event.status == "error"
    assert "There is no tool" in (event.error or "")
    json.dumps(event.record(), ensure_ascii=False).encode()
    event.observation().encode()
    assert len(episode.trace.hash()) == 64


def test_arguments_longer_than_a_cell_are_an_error() -> None:
    episode = Episode(SETTING, SETTING.world.base, mediated=False)
    longest = "x" * (limits.MAX_CELL - 100)
    notice = {"customer_id": "K-11", "refund_id": "R-9", "body": longest}
    assert episode.call("send_notice", notice).status == "ok"
    assert episode.call("send_notice", {**notice, "body": longest * 2}).status == "error"


def test_what_was_said_of_one_text_is_not_said_of_another() -> None:
    """A key that is no text is no JSON, also where the text of that key was seen before, and after."""
    for first, second in (({"1": "x"}, {1: "x"}), ({1: "x"}, {"1": "x"})):
        setting = Setting.of(family("refund_desk"))
        episode = Episode(setting, setting.world.base, mediated=False)
        errors = [episode.call("get_charge", args).error for args in (first, second)]
        assert errors[0] != errors[1]
