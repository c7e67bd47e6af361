"""A world with a flip applied, as plain rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agentbound.data.records import Change, Flip, Row, WorldSpec
from agentbound.errors import RecordError


def rows_of(world: WorldSpec, flip: Flip | None) -> dict[str, list[Row]]:
    """The rows of a world, with a flip applied or none, tables in the schema's order and rows sorted by primary key.

    Raises `RecordError` naming the flip and the row where a change does not fit.
    """
    keys = primary_keys(tuple(world.schema_))
    tables: dict[str, dict[Any, Row]] = {}
    for table, primary in keys.items():
        tables[table] = {row[primary]: dict(row) for row in world.rows.get(table, [])}
    for change in flip.delta if flip else ():
        _apply(flip.id if flip else "", change, tables, keys)
    return {table: [rows[key] for key in sorted(rows, key=_rank)] for table, rows in tables.items()}


@lru_cache(maxsize=4096)
def primary_keys(schema: Sequence[str]) -> dict[str, str]:
    """Table to its primary key column. Raises `RecordError` for a schema SQLite does not take."""
    connection = sqlite3.connect(":memory:")
    try:
        for statement in schema:
            connection.execute(statement)
        names = [n for (n,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table' ORDER BY rowid")]
        infos = {n: connection.execute(f'PRAGMA table_info("{n}")').fetchall() for n in names}
    except sqlite3.Error as error:
        raise RecordError(f"the schema of the world fails: {error}; prove the family to see where") from None
    finally:
        connection.close()
    return {name: next(c[1] for c in info if c[5]) for name, info in infos.items()}


def _apply(flip: str, change: Change, tables: dict[str, dict[Any, Row]], keys: dict[str, str]) -> None:
    rows = tables.get(change.table)
    if rows is None:
        raise RecordError(f"flip {flip}: there is no table {change.table}; name one of {', '.join(tables)}")
    if change.op == "insert":
        row = dict(change.row or {})
        if row.get(keys[change.table]) in rows:
            raise RecordError(
                f"flip {flip}: {change.table} has a row {row.get(keys[change.table])} already; insert another key"
            )
        rows[row[keys[change.table]]] = row
        return
    if change.key not in rows:
        raise RecordError(f"flip {flip}: {change.table} has no row {change.key}; name one that is there")
    if change.op == "delete":
        del rows[change.key]
    else:
        rows[change.key] = {**rows[change.key], **(change.set or {})}


def _rank(key: Any) -> tuple[bool, Any]:
    return (isinstance(key, str), key)
