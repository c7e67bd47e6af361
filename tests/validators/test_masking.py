"""Masking leaves how something is said, and nothing that was drawn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentbound.validators.masking import mask, shingles


def test_everything_drawn_is_masked() -> None:
    text = "Rivera's C-102 of 14 March, 49.99: mail rivera@example.com by Friday"
    assert mask(text, frozenset({"Rivera"})) == "NAME ID of DATE, N: mail ADDRESS by DATE"


@given(st.integers(100, 999), st.integers(100, 999))
def test_two_draws_of_one_template_are_the_same(one: int, two: int) -> None:
    template = "please release O-{} and tell ward {}"
    assert mask(template.format(one, one)) == mask(template.format(two, two))


@given(st.text())
def test_shingles_are_sorted_and_distinct(text: str) -> None:
    found = shingles(mask(text))
    assert found == sorted(set(found))
