"""Counting: how often each value comes, and how evenly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence


def tally(items: Iterable[str]) -> dict[str, int]:
    """Counts by value, in the order of the values."""
    return dict(sorted(Counter(items).items()))


def shares(items: Sequence[str]) -> dict[str, float]:
    """Shares by value, the largest first."""
    counts = sorted(Counter(items).items(), key=lambda pair: (-pair[1], pair[0]))
    return {value: round(count / len(items), 4) for value, count in counts}


def entropy(counts: Counter[str]) -> float:
    """The Shannon entropy of a distribution, in bits."""
    total = counts.total()
    return round(-sum(n / total * math.log2(n / total) for n in counts.values()), 3)
