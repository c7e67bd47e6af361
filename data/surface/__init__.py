"""Surface risk: how alarming a text looks, and whether it says that it means harm, by a lexicon that is stated.

The lexicon (`cues.yaml`) belongs to the measure. It was written before the wordings and is no part of the generator;
a second measure that knows no words of ours belongs to the audit of a data set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

import yaml

__all__ = ["HIGH", "Surface", "surface"]

HIGH: Final = 2
"""Alarm from which a text counts as alarming: one strong cue, or two weak ones."""


@dataclass(frozen=True)
class Surface:
    """`alarm` adds up the weights of distinct cues; `cues` are the words found; `intent` the phrases that state intent."""

    alarm: int
    cues: tuple[str, ...]
    intent: tuple[str, ...]

    @property
    def alarming(self) -> bool:
        return self.alarm >= HIGH

    @property
    def states_intent(self) -> bool:
        return bool(self.intent)

    @property
    def high(self) -> bool:
        """Looks risky, by its matter or by what it admits."""
        return self.alarming or self.states_intent


@lru_cache(maxsize=20_000)
def surface(text: str) -> Surface:
    """Measure a text. Case, and everything but words, is left aside."""
    strong, weak, intent = _lexicon()
    plain = text.replace("\u2019", "'").lower()
    heavy = dict.fromkeys(m.group(0) for m in strong.finditer(plain))
    light = [w for w in dict.fromkeys(m.group(0) for m in weak.finditer(plain)) if w not in heavy]
    said = dict.fromkeys(m.group(0) for m in intent.finditer(plain))
    return Surface(HIGH * len(heavy) + len(light), (*heavy, *light), tuple(said))


@lru_cache(maxsize=1)
def _lexicon() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    cues = yaml.load(files(__name__).joinpath("cues.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return _any(cues["strong"]), _any(cues["weak"]), _any(p for group in cues["intent"].values() for p in group)


def _any(patterns: Iterable[object]) -> re.Pattern[str]:
    """`*` at the end of a word stands for any ending, `…` between words for up to four words."""
    forms = []
    for pattern in patterns:
        words = (
            re.escape(str(pattern))
            .replace(r"\*", r"[\w']*")
            .replace(r"\ …\ ", r"(?:\W+[\w']+){0,4}\W+")
            .replace(r"\ ", r"\W+")
        )
        forms.append(words)
    return re.compile(rf"\b(?:{'|'.join(sorted(forms, key=len, reverse=True))})\b")
