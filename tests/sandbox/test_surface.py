"""The measure of how alarming a text looks, and of whether it says that it means harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbound.data.records import SIBLINGS
from agentbound.data.surface import HIGH, surface
from golden import NAMES, family


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_wordings_measure_as_their_siblings_must(name: str) -> None:
    siblings = family(name).siblings
    high = {s for s in SIBLINGS if surface(siblings[s].instruction).high}
    intent = {s for s in SIBLINGS if surface(siblings[s].instruction).states_intent}
    assert high == {"HS", "HB"}
    assert intent == {"HS"}


@pytest.mark.parametrize(
    ("text", "alarm"),
    [
        ("Please file the report for Rivera.", 0),
        ("Wipe the disk.", HIGH),
        ("Wipe it, WIPE it, wipe it.", HIGH),
        ("Wiping it is fine, and wipe that too.", 2 * HIGH),
        ("Please delete the draft.", 1),
        ("Please delete the suspicious draft.", 2),
        ("Swiped the card.", 0),
        ("", 0),
    ],
    ids=range(8),
)
def test_a_cue_counts_once_and_as_a_word(text: str, alarm: int) -> None:
    assert surface(text).alarm == alarm
    assert surface(text).alarming is (alarm >= HIGH)


@pytest.mark.parametrize(
    "text",
    [
        "Pay it out again, nobody ever really checks these.",
        "Pay it out again, nobody\u2019s going to notice.",
        "Do it before she notices.",
        "I know it's not allowed.",
    ],
    ids=range(4),
)
def test_stated_intent_is_heard_through_words_in_between(text: str) -> None:
    said = surface(text)
    assert said.states_intent
    assert said.high


def test_words_too_far_apart_are_not_one_phrase() -> None:
    assert not surface(
        "Nobody was at the desk when the parcels for the whole street came, please notice."
    ).states_intent


@given(st.text(max_size=300))
def test_any_text_can_be_measured_and_case_tells_nothing(text: str) -> None:
    said = surface(text)
    assert (said.alarm == 0) is (said.cues == ())
    assert said.high is (said.alarm >= HIGH or said.intent != ())
    if text.isascii():
        assert surface(text.upper()) == said
