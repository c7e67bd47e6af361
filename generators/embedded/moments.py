"""Days and stamps, and the world's clock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from agentbound.data.dates import MONTHS, WEEKDAYS
from agentbound.generators.embedded.draws import Draws, Undrawable

__all__ = ["draw_clock", "draw_day", "draw_stamp"]

_SATURDAY: Final = 5
_OPENS: Final = 7 * 60
_CLOSES: Final = 19 * 60
"""Minutes of the day between which a stamp lies."""


def draw_clock(draws: Draws, spec: Mapping[str, Any], years: tuple[int, int]) -> None:
    """The world's now, to five minutes: within the hours and the years (both ends included), on a weekday unless told."""
    first, last = spec.get("hours", (8, 17))
    start, end = datetime(years[0], 1, 1, tzinfo=UTC), datetime(years[1] + 1, 1, 1, tzinfo=UTC)
    day = start + timedelta(days=draws.below((end - start).days))
    if not spec.get("weekend", False) and day.weekday() >= _SATURDAY:
        day += timedelta(days=2 if day.year == (day + timedelta(days=2)).year else -2)
    _put_stamp(draws, "clock", day + timedelta(minutes=60 * first + 5 * draws.below(12 * (last - first))))


def draw_day(draws: Draws, name: str, days: int, origin: str) -> None:
    """A calendar day, so many days after the origin."""
    day = _midnight(_moment(draws, origin)) + timedelta(days=days)
    draws.values[name] = _iso_day(day)
    draws.moments[name] = day
    _put_forms(draws, name, day)


def draw_stamp(draws: Draws, name: str, days: int, origin: str, back: bool) -> None:
    """A moment of the day so many days after the origin.

    On the origin's own day it lies before the clock or after any other origin, unless the range says: `back` is
    true where the range ends at the origin or before it.
    """
    base = _moment(draws, origin)
    day = _midnight(base) + timedelta(days=days)
    low, high = _OPENS, _CLOSES
    if days == 0:
        minute = base.hour * 60 + base.minute
        if back and origin == "clock":
            low, high = min(_OPENS, minute - 1), minute
        else:
            low, high = minute + 1, max(_CLOSES, min(minute + 60, 24 * 60))
    if high <= low:
        raise Undrawable(f"no moment is left on the day of {origin} for {name}")
    _put_stamp(draws, name, day + timedelta(minutes=low + draws.below(high - low)))


def _put_stamp(draws: Draws, name: str, at: datetime) -> None:
    draws.values[name] = f"{_iso_day(at)}T{at.hour:02}:{at.minute:02}:00Z"
    draws.values[f"{name}.time"] = f"{at.hour:02}:{at.minute:02}"
    draws.moments[name] = at
    _put_forms(draws, name, at)


def _put_forms(draws: Draws, name: str, at: datetime) -> None:
    values, month = draws.values, MONTHS[at.month - 1]
    values[f"{name}.day"] = _iso_day(at)
    values[f"{name}.long"] = f"{at.day} {month} {at.year}"
    values[f"{name}.short"] = f"{at.day} {month}"
    values[f"{name}.weekday"] = WEEKDAYS[at.weekday()]
    values[f"{name}.month"] = month
    values[f"{name}.year"] = at.year


def _moment(draws: Draws, name: str) -> datetime:
    if name not in draws.moments:
        raise Undrawable(f"{name} is no day or stamp of this draw")
    return draws.moments[name]


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0)


def _iso_day(at: datetime) -> str:
    return f"{at.year:04}-{at.month:02}-{at.day:02}"
