"""Texts with everything drawn taken out: ids, names, numbers and dates. What is left is how something is said."""

from __future__ import annotations

import itertools
import re
from typing import Final

from agentbound.data.records import Scaffold

_MONTH: Final = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DAY: Final = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_PATTERNS: Final = [
    (re.compile(r"\b[\w.+-]+@[\w.-]+\b"), "ADDRESS"),
    (
        re.compile(
            rf"\b\d{{1,2}} {_MONTH}(?: \d{{4}})?\b|\b{_MONTH} \d{{1,2}}\b|\b{_MONTH}\b|\b{_DAY}\b|\d{{4}}-\d{{2}}-\d{{2}}[\dTZ:]*"
        ),
        "DATE",
    ),
    (re.compile(r"\b[A-Za-z]{1,5}-?\d[\w-]*\b"), "ID"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "N"),
]


def mask(text: str, names: frozenset[str] = frozenset()) -> str:
    """The text with addresses, dates, ids, numbers and the given names replaced by what they are."""
    for pattern, word in _PATTERNS:
        text = pattern.sub(word, text)
    if not names:
        return text
    return re.sub(r"[A-Z][\w'-]+", lambda m: "NAME" if m[0].removesuffix("'s") in names else m[0], text)


def names_of(scaffold: Scaffold) -> frozenset[str]:
    """Capitalised words of the world's short cells: people, houses, places, products."""
    words: set[str] = set()
    for rows in scaffold.world.rows.values():
        for row in rows:
            for cell in row.values():
                if isinstance(cell, str) and len(cell) <= 40:
                    words.update(w for w in re.findall(r"[A-Z][\w'-]+", cell) if not w.isupper())
    return frozenset(words)


def shingles(masked: str) -> list[str]:
    """Words and pairs of words, lower case, in a fixed order."""
    words = re.findall(r"[\w']+", masked.lower())
    return sorted({*words, *(f"{a} {b}" for a, b in itertools.pairwise(words))})
