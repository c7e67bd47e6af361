"""A world with a flip applied: the rows SQLite would hold, and a sentence where a row or a change does not fit."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbound.data.records import Change, Flip, WorldSpec
from agentbound.data.worlds import apply_flip, rows_of
from agentbound.errors import RecordError
from golden import NAMES, family

SCHEMA = ["CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT)", "CREATE TABLE notes(id TEXT PRIMARY KEY)"]


def world(rows: dict[str, list[dict[str, Any]]] | None = None, schema: list[str] | None = None) -> WorldSpec:
    return WorldSpec.model_validate(
        {
            "clock": "2026-01-01T00:00:00Z",
            "schema": schema or SCHEMA,
            "rows": {"items": [{"id": 2, "name": "b"}, {"id": 1, "name": "a"}]} if rows is None else rows,
            "transitions": {},
        }
    )


def flip(*delta: dict[str, Any]) -> Flip:
    return Flip(id="lapsed", delta=[Change.model_validate(d) for d in delta], refused_by="g")


def test_every_table_is_there_and_rows_are_sorted_by_key() -> None:
    assert rows_of(world(), None) == {"items": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "notes": []}


def test_the_three_changes() -> None:
    changed = rows_of(
        world(),
        flip(
            {"op": "insert", "table": "items", "row": {"id": 0, "name": "z"}},
            {"op": "update", "table": "items", "key": 1, "set": {"name": "A"}},
            {"op": "delete", "table": "items", "key": 2},
        ),
    )
    assert changed["items"] == [{"id": 0, "name": "z"}, {"id": 1, "name": "A"}]


def test_an_update_of_the_key_moves_the_row() -> None:
    changed = rows_of(world(), flip({"op": "update", "table": "items", "key": 1, "set": {"id": 9}}))
    assert [r["id"] for r in changed["items"]] == [2, 9]


def test_apply_flip_changes_rows_alone_and_leaves_its_input() -> None:
    before = world()
    after = apply_flip(before, flip({"op": "delete", "table": "items", "key": 2}))
    assert after.rows == {"items": [{"id": 1, "name": "a"}], "notes": []}
    assert after.model_copy(update={"rows": before.rows}) == before
    assert before == world()


@pytest.mark.parametrize("name", NAMES)
def test_every_flip_of_the_golden_families_changes_something(name: str) -> None:
    held = family(name)
    plain = rows_of(held.world, None)
    assert all(rows_of(held.world, f) != plain for f in held.flips)


@pytest.mark.parametrize(
    ("delta", "message"),
    [
        ({"op": "delete", "table": "items", "key": 7}, "flip lapsed: items has no row 7"),
        ({"op": "update", "table": "items", "key": "1", "set": {"name": "x"}}, "flip lapsed: items has no row 1"),
        ({"op": "insert", "table": "items", "row": {"id": 1}}, "flip lapsed: items has a row 1 already"),
        ({"op": "update", "table": "items", "key": 1, "set": {"id": 2}}, "flip lapsed: items has a row 2 already"),
        ({"op": "insert", "table": "items", "row": {"name": "x"}}, "flip lapsed: a row of items has no id"),
        ({"op": "insert", "table": "items"}, "flip lapsed: a row of items has no id"),
        ({"op": "update", "table": "items", "key": 1, "set": {"colour": "x"}}, "row 1 of items has a column colour"),
        ({"op": "delete", "table": "ghosts", "key": 1}, "flip lapsed: there is no table ghosts; name one of items, n"),
    ],
    ids=[
        "no row",
        "key of another type",
        "key taken",
        "key moved onto another",
        "no key",
        "no row given",
        "no column",
        "no table",
    ],
)
def test_a_change_that_does_not_fit_is_named(delta: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        rows_of(world(), flip(delta))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"items": [{"id": 1}, {"id": 1}]}, "the world: items has a row 1 already"),
        ({"items": [{"name": "x"}]}, "the world: a row of items has no id"),
        ({"ghosts": [{"id": 1}]}, "the world: there is no table ghosts"),
    ],
)
def test_a_row_that_does_not_fit_is_named(rows: dict[str, list[dict[str, Any]]], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        rows_of(world(rows), None)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE TABLE t(a TEXT)", "table t has 0 primary key columns; give it one"),
        ("CREATE TABLE t(a TEXT, b TEXT, PRIMARY KEY(a, b))", "table t has 2 primary key columns"),
        ("CREATE TABEL t(a)", "the schema of the world fails"),
        ("PRAGMA writable_schema=1", "not authorized"),
        ("CREATE TRIGGER g AFTER INSERT ON items BEGIN DELETE FROM notes; END", "not authorized"),
        ("CREATE VIRTUAL TABLE f USING fts5(a)", "not authorized"),
        ("CREATE TABLE t(a INTEGER PRIMARY KEY); CREATE TABLE u(a INTEGER PRIMARY KEY)", "one statement at a time"),
        (
            "CREATE TABLE t AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT n FROM c",
            "the schema of the world fails",
        ),
    ],
)
def test_a_schema_that_is_no_schema_is_refused(statement: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        rows_of(world(schema=[*SCHEMA, statement]), None)


@pytest.mark.parametrize("statement", ["ATTACH '{}' AS e", "VACUUM INTO '{}'"])
def test_a_schema_reaches_no_file(tmp_path: Path, statement: str) -> None:
    target = tmp_path / "reached.db"
    with pytest.raises(RecordError):
        rows_of(world(schema=[*SCHEMA, statement.format(target)]), None)
    assert not target.exists()


ROWS = st.dictionaries(st.integers(0, 6), st.text("ab", max_size=2), max_size=6)
DELTAS = st.lists(
    st.one_of(
        st.builds(
            lambda k, n: {"op": "insert", "table": "items", "row": {"id": k, "name": n}},
            st.integers(0, 6),
            st.text("ab"),
        ),
        st.builds(
            lambda k, n: {"op": "update", "table": "items", "key": k, "set": n},
            st.integers(0, 6),
            st.one_of(
                st.builds(lambda n: {"name": n}, st.text("ab")), st.builds(lambda i: {"id": i}, st.integers(0, 6))
            ),
        ),
        st.builds(lambda k: {"op": "delete", "table": "items", "key": k}, st.integers(0, 6)),
    ),
    min_size=1,
    max_size=5,
)


@given(ROWS, DELTAS)
def test_what_it_gives_is_what_sqlite_would_hold(rows: dict[int, str], delta: list[dict[str, Any]]) -> None:
    given_rows = {"items": [{"id": k, "name": n} for k, n in rows.items()]}
    try:
        mine = rows_of(world(given_rows), flip(*delta))["items"]
    except RecordError:
        mine = None
    assert mine == in_sqlite(given_rows["items"], delta)


def in_sqlite(rows: list[dict[str, Any]], delta: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The same changes by SQL; none where one of them fails or meets no row."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(SCHEMA[0])
        connection.executemany("INSERT INTO items VALUES (:id, :name)", rows)
        for change in delta:
            if change["op"] == "insert":
                done = connection.execute("INSERT INTO items VALUES (:id, :name)", change["row"])
            elif change["op"] == "delete":
                done = connection.execute("DELETE FROM items WHERE id = ?", (change["key"],))
            else:
                (column, value), *_ = change["set"].items()
                done = connection.execute(f"UPDATE items SET {column} = ? WHERE id = ?", (value, change["key"]))
            if done.rowcount != 1:
                return None
        return [{"id": i, "name": n} for i, n in connection.execute("SELECT id, name FROM items ORDER BY id")]
    except sqlite3.IntegrityError:
        return None
    finally:
        connection.close()
