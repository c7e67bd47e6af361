"""A world with a flip applied, as plain rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from agentbound.data.records import Change, Flip, Row, WorldSpec
from agentbound.errors import RecordError

_DDL: Final = frozenset({
    *(sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_VIEW, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_REINDEX),
    *(sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT),
    sqlite3.SQLITE_FUNCTION,
})  # fmt: skip
"""What creating tables, views and indexes asks the authoriser for. ATTACH and PRAGMA, which reach files, are not in it."""

_MAX_STEPS: Final = 1_000_000
"""Virtual machine steps a schema may take; an ordinary one takes some hundreds."""


class Table(NamedTuple):
    """A table of a schema: its one primary key column and all its columns."""

    key: str
    columns: frozenset[str]


def apply_flip(world: WorldSpec, flip: Flip | None) -> WorldSpec:
    """The world with the flip's rows in it, or none's; rows sorted by primary key. Raises as `rows_of`."""
    return world.model_copy(update={"rows": rows_of(world, flip)})


def rows_of(world: WorldSpec, flip: Flip | None) -> dict[str, list[Row]]:
    """The rows of a world, with a flip applied or none, tables in the schema's order and rows sorted by primary key.

    Raises `RecordError` naming the table, the row and the flip where a row or a change does not fit.
    """
    schema = tables(tuple(world.schema_))
    content: dict[str, dict[Any, Row]] = {name: {} for name in schema}
    for name, rows in world.rows.items():
        for row in rows:
            _put(name, row, content, schema, "the world")
    if flip is not None:
        for change in flip.delta:
            _apply(change, content, schema, f"flip {flip.id}")
    return {name: [rows[key] for key in sorted(rows, key=_rank)] for name, rows in content.items()}


@lru_cache(maxsize=4096)
def tables(schema: tuple[str, ...]) -> dict[str, Table]:
    """The tables of a schema, in its order. Only CREATE statements of tables, views and indexes are run.

    Raises `RecordError` for a schema that SQLite does not take, and for a table without one primary key column.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(lambda: 1, _MAX_STEPS)
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _DDL else sqlite3.SQLITE_DENY)
        for statement in schema:
            connection.execute(statement)
        connection.set_authorizer(None)
        names = [n for (n,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table' ORDER BY rowid")]
        return {name: _table(connection, name) for name in names}
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise RecordError(f"the schema of the world fails: {error}; prove the family to see where") from None
    finally:
        connection.close()


def _table(connection: sqlite3.Connection, name: str) -> Table:
    columns = connection.execute("SELECT name, pk FROM pragma_table_info(?)", (name,)).fetchall()
    primary = [column for column, rank in columns if rank]
    if len(primary) != 1:
        raise RecordError(f"table {name} has {len(primary)} primary key columns; give it one")
    return Table(primary[0], frozenset(column for column, _ in columns))


def _apply(change: Change, content: dict[str, dict[Any, Row]], schema: Mapping[str, Table], who: str) -> None:
    if change.op == "insert":
        _put(change.table, change.row or {}, content, schema, who)
        return
    rows = content[_known(change.table, schema, who)]
    if change.key not in rows:
        raise RecordError(f"{who}: {change.table} has no row {change.key}; name one that is there")
    row = rows.pop(change.key)
    if change.op == "update":
        _put(change.table, {**row, **(change.set or {})}, content, schema, who)


def _put(name: str, row: Row, content: dict[str, dict[Any, Row]], schema: Mapping[str, Table], who: str) -> None:
    table = schema[_known(name, schema, who)]
    key = row.get(table.key)
    strange = sorted(row.keys() - table.columns)
    if key is None:
        raise RecordError(f"{who}: a row of {name} has no {table.key}; give it its primary key: {_short(row)}")
    if strange:
        raise RecordError(f"{who}: row {key} of {name} has a column {strange[0]}, which the table has not; take it out")
    if key in content[name]:
        raise RecordError(f"{who}: {name} has a row {key} already; give the row another key")
    content[name][key] = dict(row)


def _known(name: str, schema: Mapping[str, Table], who: str) -> str:
    if name not in schema:
        raise RecordError(f"{who}: there is no table {name}; name one of {', '.join(schema)}")
    return name


def _short(row: Row) -> str:
    text = str(row)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _rank(key: Any) -> tuple[bool, Any]:
    return (isinstance(key, str), key)
