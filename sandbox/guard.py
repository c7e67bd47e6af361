"""What a statement of a record may do: SQLite's authoriser and its progress handler.

The guard knows what purpose a statement serves while SQLite prepares it, says no to what that purpose does not need,
and remembers which tables it reads and writes. The meter stops a statement that runs for too long.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Literal

from agentbound.sandbox import limits

Purpose = Literal["read", "write", "judge"]
"""`judge` is a read that may look at the `calls` as well; a `write` may read."""

CALLS: Final = "calls"
"""The table of calls so far, which judges alone may read."""

_ALWAYS: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})
_WRITES: Final = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})
_CREATES: Final = frozenset({sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_VIEW, sqlite3.SQLITE_CREATE_INDEX})
_DDL: Final = _CREATES | _WRITES | _ALWAYS | {sqlite3.SQLITE_READ, sqlite3.SQLITE_REINDEX}

_LEFT_OUT: Final = re.compile(
    r"""(?P<kept>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])  # names in quotes
    |'(?:[^']|'')*'|--[^\n]*|/\*.*?(?:\*/|\Z)               # strings and comments""",
    re.VERBOSE | re.DOTALL,
)


def bare(sql: str) -> str:
    """A statement without its comments and the contents of its strings: what is left are its words."""
    return _LEFT_OUT.sub(lambda m: m["kept"] or (" '' " if m[0].startswith("'") else " "), sql)


class Guard:
    """The authoriser of one connection. `relations` maps the names of tables and views, in lower case, to their own."""

    def __init__(self) -> None:
        self.relations: Mapping[str, str] = {}
        self.modules: frozenset[str] = frozenset()
        self.reads: set[tuple[str, str]] = set()
        self.writes: set[str] = set()
        self.denied = ""
        self._purpose: Purpose | Literal["ours", "schema"] = "ours"

    @contextmanager
    def serving(self, purpose: Purpose | Literal["schema"]) -> Iterator[None]:
        """While a stranger's statement is prepared; afterwards `reads`, `writes` and `denied` tell of it."""
        self.reads, self.writes, self.denied = set(), set(), ""
        self._purpose = purpose
        try:
            yield
        finally:
            self._purpose = "ours"

    def __call__(self, action: int, one: str | None, two: str | None, database: str | None, _by: str | None) -> int:
        if self._purpose == "ours":
            return sqlite3.SQLITE_OK
        objection = self._objection(action, one or "", two or "", database or "main")
        if not objection:
            return sqlite3.SQLITE_OK
        self.denied = self.denied or objection
        return sqlite3.SQLITE_DENY

    def _objection(self, action: int, one: str, two: str, database: str) -> str:
        """Why this action is not allowed for the present purpose; empty where it is."""
        if action == sqlite3.SQLITE_FUNCTION:
            return "" if two.lower() in limits.FUNCTIONS else f"function {two} is not allowed"
        if self._purpose == "schema":
            fits = action in _DDL and database == "main"
            return "" if fits else "the schema may create tables, views and indexes alone"
        if action in _ALWAYS:
            return ""
        if action == sqlite3.SQLITE_READ:
            return self._object_to_read(one, two)
        if action in _WRITES and self._purpose == "write":
            if one.lower() not in self.relations or database != "main":
                return f"no table {one} to write to"
            self.writes.add(one)
            return ""
        return "the statement does what a record's statement may not"

    def _object_to_read(self, table: str, column: str) -> str:
        # Where no column is read SQLite gives the name as the statement spells it.
        name = table.lower()
        if name == CALLS and self._purpose != "judge":
            return "the calls are for the judge alone"
        if name != CALLS and name not in self.relations and name not in limits.TABLE_FUNCTIONS:
            if column or name in self.modules or name.startswith(("sqlite_", "pragma_")):
                return f"no table {table} to read from"
            return ""  # count(*) of a common table expression of the statement's own
        if column == "ROWID":
            return "rowid depends on history, not on the world"
        self.reads.add((self.relations.get(name, name), column))
        return ""


class Meter:
    """The progress handler of one connection: counts while a stranger's statement runs, and stops it in the end."""

    def __init__(self) -> None:
        self._ticks: int | None = None
        self._began = 0.0

    def start(self) -> None:
        self._ticks = 0

    def stop(self) -> None:
        self._ticks = None

    def __call__(self) -> int:
        if self._ticks is None:
            return 0
        now = time.thread_time()
        if self._ticks == 0:
            self._began = now
        self._ticks += 1
        return int(self._ticks > limits.MAX_TICKS or now - self._began > limits.MAX_SECONDS)
