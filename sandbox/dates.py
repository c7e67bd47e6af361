"""SQLite's date functions without the wall clock.

SQLite reads the clock of the machine when a date function has no argument or gets 'now', and its time zone for
'localtime' and 'utc'. A world has its own clock, bound as `:now`; everything else is answered by SQLite itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import lru_cache
from typing import Final

Argument = str | int | float | bytes | None

_NAMES: Final = ("date", "time", "datetime", "julianday", "unixepoch", "strftime")
_CLOCK_WORDS: Final = frozenset({"now", "subsec", "subsecond", "localtime", "utc"})
_LONGEST: Final = 200
"""Characters of an argument: more than any date, modifier or format needs."""


def install(connection: sqlite3.Connection) -> None:
    """Put the clockless functions in place of SQLite's on this connection."""
    for name in _NAMES:
        connection.create_function(name, -1, _clockless(name), deterministic=True)


@lru_cache(maxsize=len(_NAMES))
def _clockless(name: str) -> Callable[..., Argument]:
    timeless = 1 if name == "strftime" else 0

    @lru_cache(maxsize=4096, typed=True)
    def compute(*arguments: Argument) -> Argument:
        if len(arguments) <= timeless or any(_reads_clock(a) for a in arguments):
            raise ValueError("a world has no clock but :now")
        marks = ",".join("?" * len(arguments))
        answer: Argument = _plain().execute(f"SELECT {name}({marks})", arguments).fetchone()[0]
        return answer

    return compute


def _reads_clock(argument: Argument) -> bool:
    """Whether SQLite could take the argument for the clock: it reads bytes as text, and text to the first NUL."""
    if isinstance(argument, str):
        return len(argument) > _LONGEST or "\0" in argument or argument.strip().lower() in _CLOCK_WORDS
    return isinstance(argument, bytes)


@lru_cache(maxsize=1)
def _plain() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False)
