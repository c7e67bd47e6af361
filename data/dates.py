"""How a day is written: ISO 8601 in the records, English words in texts, whatever the machine's locale."""

from __future__ import annotations

from typing import Final

__all__ = ["MONTHS", "WEEKDAYS"]

MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
