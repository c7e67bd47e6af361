"""Sharing out whole things in proportion."""

from __future__ import annotations

import math
from collections.abc import Mapping


def apportioned(weights: Mapping[str, float], total: int) -> dict[str, int]:
    """`total` shared out in proportion to the weights, what is left over to the largest remainders (Hamilton's method).

    Equal remainders go in the order of the mapping.
    """
    whole = sum(weights.values())
    exact = {name: weight * total / whole for name, weight in weights.items()}
    shares = {name: math.floor(x) for name, x in exact.items()}
    rest = sorted(exact, key=lambda name: shares[name] - exact[name])
    for name in rest[: total - sum(shares.values())]:
        shares[name] += 1
    return shares
