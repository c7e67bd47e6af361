"""SQL out of a record is hostile input: what may not run is refused, and what runs too long or too wide is stopped."""

from __future__ import annotations

import pytest

from agentbound.errors import SqlRefused
from agentbound.sandbox import limits
from agentbound.sandbox.database import Database, StatementFailed
from agentbound.sandbox.guard import Purpose

SCHEMA = ["CREATE TABLE t(id TEXT PRIMARY KEY, n INTEGER NOT NULL, at TEXT)", "CREATE VIEW v AS SELECT id, n FROM t"]
ROWS = {"t": [{"id": "a", "n": 1, "at": "2026-03-14T09:00:00Z"}, {"id": "b", "n": 2, "at": None}]}


@pytest.fixture
def database() -> Database:
    return Database(SCHEMA, ROWS)  # type: ignore[arg-type]


REFUSED: list[tuple[Purpose, str]] = [
    ("read", "DELETE FROM t"),
    ("read", "INSERT INTO t VALUES ('c', 3, NULL) RETURNING id"),
    ("read", "WITH x AS (SELECT 1) DELETE FROM t"),
    ("read", "SELECT 1; DELETE FROM t"),
    ("read", "SELECT 1 -- ;\n; DELETE FROM t"),
    ("write", "UPDATE t SET n=2 /* ; */ ; DELETE FROM t"),
    ("write", "ATTACH 'other.db' AS other"),
    ("write", "DETACH main"),
    ("write", "PRAGMA foreign_keys=OFF"),
    ("read", "PRAGMA table_info(t)"),
    ("read", "SELECT * FROM pragma_table_info('t')"),
    ("read", "SELECT count(*) FROM pragma_database_list"),
    ("read", "SELECT sql FROM sqlite_master"),
    ("read", "SELECT count(*) FROM sqlite_schema"),
    ("write", "UPDATE sqlite_master SET sql=''"),
    ("write", "CREATE TABLE u(id TEXT PRIMARY KEY)"),
    ("write", "DROP TABLE t"),
    ("write", "ALTER TABLE t RENAME TO u"),
    ("write", "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END"),
    ("write", "CREATE VIRTUAL TABLE f USING fts5(x)"),
    ("write", "CREATE TEMP TABLE u(id)"),
    ("write", "VACUUM"),
    ("write", "REINDEX"),
    ("write", "ANALYZE"),
    ("write", "BEGIN"),
    ("write", "COMMIT"),
    ("write", "ROLLBACK"),
    ("write", "SAVEPOINT x"),
    ("write", "RELEASE base"),
    ("read", "EXPLAIN SELECT 1"),
    ("read", "QUERY PLAN SELECT 1"),
    ("read", "SELECT random()"),
    ("read", "SELECT randomblob(8)"),
    ("read", "SELECT hex('x')"),
    ("read", "SELECT load_extension('x')"),
    ("read", "SELECT readfile('/etc/passwd')"),
    ("read", "SELECT sqlite_version()"),
    ("read", "SELECT last_insert_rowid()"),
    ("read", "SELECT changes()"),
    ("read", "SELECT current_timestamp"),
    ("read", "SELECT CURRENT_DATE"),
    ("read", "SELECT CURRENT_TIME"),
    ("read", "SELECT rowid FROM t"),
    ("read", "SELECT _rowid_ FROM t"),
    ("read", "SELECT oid FROM t"),
    ("read", "SELECT id FROM t ORDER BY rowid"),
    ("read", "SELECT at->'$.x' FROM t"),
    ("read", "SELECT count(*) FROM calls"),
    ("write", "DELETE FROM calls"),
    ("judge", "DELETE FROM calls"),
    ("judge", "DELETE FROM t"),
    ("read", "SELECT count(*) FROM json_tree('[1]')"),
    ("read", "SELECT value FROM generate_series(1, 9)"),
    ("read", "SELECT id FROM nowhere"),
    ("read", "SELECT nothing FROM t"),
    ("read", "SELECT"),
    ("read", ""),
    ("read", f"SELECT '{'x' * limits.MAX_SQL}'"),
]


@pytest.mark.parametrize(("purpose", "sql"), REFUSED, ids=lambda x: x[:40] if isinstance(x, str) else None)
def test_what_a_statement_may_not_do_is_refused(database: Database, purpose: Purpose, sql: str) -> None:
    before = database.content("t")
    with pytest.raises(SqlRefused):
        database.statement(sql, purpose)
    assert database.content("t") == before


@pytest.mark.parametrize(
    ("purpose", "sql"),
    [
        ("read", "SELECT id, n FROM t ORDER BY id"),
        ("read", "SELECT id FROM v WHERE n>:low ORDER BY id;"),
        ("read", "WITH x AS (SELECT n FROM t) SELECT count(*) FROM x"),
        ("read", "SELECT value FROM json_each('[1,2]')"),
        ("read", "SELECT ';' AS semicolon"),
        ("read", "SELECT max(n) OVER (ORDER BY id) AS top FROM t ORDER BY id"),
        ("read", "SELECT strftime('%Y', :now) AS year"),
        ("write", "UPDATE t SET n=n+1 WHERE id=:id RETURNING id, n"),
        ("write", "INSERT INTO t(id, n) SELECT 'c', count(*) FROM t"),
        ("judge", "SELECT EXISTS(SELECT 1 FROM calls WHERE tool='x')"),
    ],
)
def test_what_a_statement_may_do_is_let_through(database: Database, purpose: Purpose, sql: str) -> None:
    statement = database.statement(sql, purpose)
    database.run(statement, {"low": 0, "now": "2026-03-14T09:00:00Z", "id": "a"})


def test_a_statement_let_through_for_one_purpose_is_not_for_another(database: Database) -> None:
    database.statement("SELECT count(*) FROM calls", "judge")
    with pytest.raises(SqlRefused):
        database.statement("SELECT count(*) FROM calls", "read")
    database.statement("UPDATE t SET n=3", "write")
    purposes: tuple[Purpose, ...] = ("read", "judge")
    for purpose in purposes:
        with pytest.raises(SqlRefused):
            database.statement("UPDATE t SET n=3", purpose)


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "CREATE TEMP TABLE u(id TEXT PRIMARY KEY)",
        "CREATE TABLE u(id INTEGER PRIMARY KEY AUTOINCREMENT)",
        "CREATE TABLE u(id TEXT PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP)",
        "CREATE TABLE u(id TEXT PRIMARY KEY, n INTEGER DEFAULT (random()))",
        "CREATE TABLE u(id TEXT PRIMARY KEY, n INTEGER GENERATED ALWAYS AS (random()))",
        "CREATE TABLE u(id TEXT PRIMARY KEY, n INTEGER AS (1))",
        "CREATE TABLE u(id TEXT PRIMARY KEY, t TEXT REFERENCES t(id) ON DELETE CASCADE)",
        "CREATE TABLE u(id TEXT, n TEXT)",
        "CREATE TABLE u(id TEXT, n TEXT, PRIMARY KEY(id, n))",
        "INSERT INTO t VALUES ('c', 1, NULL)",
        "DROP TABLE t",
        "PRAGMA foreign_keys=OFF",
        "CREATE TABLE u(id TEXT PRIMARY KEY); DROP TABLE t",
        "ATTACH 'other.db' AS other",
    ],
)
def test_a_schema_creates_tables_views_and_indexes_alone(schema: str) -> None:
    with pytest.raises(SqlRefused):
        Database([*SCHEMA, schema], ROWS)  # type: ignore[arg-type]


def test_a_view_cannot_hide_what_is_refused() -> None:
    database = Database([*SCHEMA, "CREATE VIEW w AS SELECT id, random() AS n FROM t"], ROWS)  # type: ignore[arg-type]
    with pytest.raises(SqlRefused):
        database.statement("SELECT n FROM w", "read")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT date('now')",
        "SELECT date('NOW')",
        "SELECT date('n'||'ow')",
        "SELECT datetime(:word)",
        "SELECT date()",
        "SELECT strftime('%Y')",
        "SELECT unixepoch('now')",
        "SELECT julianday('now', '+1 day')",
        "SELECT datetime(:at, 'localtime')",
        "SELECT datetime(:at, 'utc')",
        "SELECT datetime('subsec')",
    ],
)
def test_the_clock_of_the_machine_is_out_of_reach(database: Database, sql: str) -> None:
    statement = database.statement(sql, "read")
    with pytest.raises(StatementFailed):
        database.run(statement, {"word": "now", "at": "2026-03-14T09:00:00Z"})


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 100000) SELECT sum(a.x) FROM c a, c b",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 5000) SELECT x FROM c ORDER BY x",
        "WITH RECURSIVE c(x) AS (SELECT 'x' UNION ALL SELECT x||x FROM c LIMIT 60) SELECT max(length(x)) FROM c",
        "SELECT replace(printf('%.*c', 20000, 'a'), 'a', 'aaaaaaaa') AS big",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 300) SELECT printf('%.*c', 2000, 'a') AS big FROM c",
        "SELECT CAST('x' AS BLOB) AS bytes",
    ],
)
def test_a_statement_is_bounded(database: Database, sql: str) -> None:
    statement = database.statement(sql, "read")
    with pytest.raises(StatementFailed):
        database.run(statement, {})
    assert database.run(database.statement("SELECT count(*) AS n FROM t", "read"), {}) == [{"n": 2}]


@pytest.mark.parametrize("value", [2**63, -(2**70), "\ud800", "x" * (limits.MAX_BYTES + 1)])
def test_an_argument_sqlite_cannot_hold_is_an_error(database: Database, value: object) -> None:
    with pytest.raises(StatementFailed):
        database.run(database.statement("SELECT :x AS x", "read"), {"x": value})


def test_rows_must_fit_the_schema() -> None:
    for rows in (
        {"t": [{"id": "a", "n": None}]},
        {"t": [{"id": "a", "n": 1}, {"id": "a", "n": 2}]},
        {"t": [{"id": "a", "n": 1, "other": 2}]},
        {"u": [{"id": "a"}]},
    ):
        with pytest.raises(SqlRefused):
            Database(SCHEMA, rows)  # type: ignore[arg-type]
