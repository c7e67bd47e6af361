"""The schema of a world: tables with one primary key column, views and indexes, and nothing that tells chance or time."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from typing import Final

from agentbound.errors import SqlRefused
from agentbound.sandbox.guard import CALLS, Guard, bare

_CREATE: Final = re.compile(r"\s*CREATE\s+(TABLE|VIEW|INDEX|UNIQUE\s+INDEX)\b", re.IGNORECASE)
_FORBIDDEN_IN_TABLES: Final = re.compile(
    r"\b(AUTOINCREMENT|GENERATED|CURRENT_\w+|ON\s+CONFLICT|ON\s+(?:DELETE|UPDATE)\s+(?:CASCADE|SET)"
    r"|DEFAULT\s*\(|AS\s*\()",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def create(connection: sqlite3.Connection, guard: Guard, schema: Sequence[str]) -> None:
    """Create what the schema names, and tell the guard of it. Raises `SqlRefused` naming the statement."""
    for sql in schema:
        _refuse_words(sql)
        try:
            with guard.serving("schema"):
                connection.execute(sql)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            raise SqlRefused(f"{guard.denied or error} in: {short(sql)}") from None
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table','view')")
    guard.relations = {name.lower(): name for (name,) in names}
    if CALLS in guard.relations:
        raise SqlRefused(f"a table named {CALLS}, which is what the judge's own is called; give it another name")


def tables(connection: sqlite3.Connection) -> dict[str, tuple[str, list[str]]]:
    """Table to its primary key column and all its columns, in the order they were created in.

    Raises `SqlRefused` for a table with another number of primary key columns than one, or with a name in need of quotes.
    """
    found = {}
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table' ORDER BY rowid").fetchall():
        if not _NAME.fullmatch(table):
            raise SqlRefused(f"a table named {table!r}; name it with letters, digits and _")
        info = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
        columns, primary = [c[1] for c in info], [c[1] for c in info if c[5]]
        for column in columns:
            if not _NAME.fullmatch(column):
                raise SqlRefused(f"a column of {table} named {column!r}; name it with letters, digits and _")
        if len(primary) != 1:
            raise SqlRefused(f"table {table} has {len(primary)} primary key columns; it must have one")
        found[table] = (primary[0], columns)
    return found


def short(sql: str) -> str:
    return sql if len(sql) <= 160 else sql[:157] + "…"


def _refuse_words(sql: str) -> None:
    words = bare(sql)
    created = _CREATE.match(words)
    if created is None:
        raise SqlRefused(f"the schema may create tables, views and indexes alone: {short(sql)}")
    found = _FORBIDDEN_IN_TABLES.search(words) if created[1].upper() == "TABLE" else None
    if found:
        raise SqlRefused(f"{found[0]} is not allowed in the schema: {short(sql)}")
