"""SQL out of a record is hostile input: what may not run is refused, and what runs too long or too wide is stopped."""

from __future__ import annotations

import time

import pytest

from agentbound.errors import SqlRefused
from agentbound.sandbox import limits
from agentbound.sandbox.cells import StatementFailed, is_true
from agentbound.sandbox.database import Database
from agentbound.sandbox.guard import Purpose, bare

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
    ("read", "SELECT 1; /* hidden */ DELETE FROM t"),
    ("read", "SELECT 1;\0 DELETE FROM t"),
    ("read", "SELECT '\ud800'"),
    ("read", "VACUUM INTO 'elsewhere.db'"),
    ("read", "/* SELECT */ VACUUM"),
    ("read", "-- SELECT\nPRAGMA user_version"),
    ("read", "*/ SELECT 1"),
    ("read", "SELECT count(*) FROM CALLS"),
    ("read", "SELECT count(*) FROM temp.Calls"),
    ("read", "SELECT count(*) FROM main.sqlite_master"),
    ("read", "SELECT count(*) FROM temp.sqlite_temp_schema"),
    ("read", "SELECT count(*) FROM dbstat"),
    ("read", "SELECT count(*) FROM sqlite_stmt"),
    ("read", "SELECT count(*) FROM fts3tokenize"),
    ("read", "SELECT id FROM t ORDER BY random()"),
    ("read", "SELECT id FROM t WHERE (SELECT rowid)=1"),
    ("read", "SELECT total_changes()"),
    ("read", "SELECT id FROM t WHERE id MATCH 'a'"),
    ("read", "SELECT id FROM t WHERE id REGEXP 'a'"),
    ("read", "SELECT ?"),
    ("write", "INSERT INTO t(rowid, id, n) VALUES (9223372036854775807, 'c', 1)"),
    ("write", "UPDATE t SET _rowid_=7"),
    ("write", "UPDATE t SET oid /* it's */ =7 -- '"),
    ("write", "INSERT INTO json_each VALUES (1)"),
    ("write", "INSERT INTO temp.calls VALUES (1, 'x', '{}', 'ok', 'x', NULL)"),
    ("write", "INSERT INTO v(id, n) VALUES ('c', 1)"),
    ("write", "UPDATE t SET n=random()"),
    ("write", "INSERT INTO t(id, n) VALUES ('c', 1) RETURNING rowid"),
    ("judge", "SELECT count(*) FROM calls; DELETE FROM calls"),
    ("read", "SELECT " + ", ".join(f"{i} AS c{i}" for i in range(limits.MAX_COLUMNS + 1))),
    ("read", " UNION ALL ".join(["SELECT 1"] * 40)),
    ("read", f"SELECT {'+'.join(['1'] * 200)}"),
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
        ("read", "SELECT 'a;b''; DELETE FROM t' AS text -- ; DELETE FROM t"),
        ("read", "/* find */ SELECT id FROM T ORDER BY id"),
        ("read", '-- it\'s the first\nSELECT id AS "rowid" FROM t ORDER BY id'),
        ("read", "WITH dates(d) AS (SELECT date(:now)) SELECT count(*) FROM dates"),
        ("write", "SELECT id FROM t ORDER BY id"),
        ("write", "REPLACE INTO t(id, n) VALUES ('a', 9)"),
        ("write", "INSERT INTO t(id, n) VALUES ('a', 9) ON CONFLICT(id) DO UPDATE SET n=excluded.n"),
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
        "CREATE TABLE u(id TEXT PRIMARY KEY, n INTEGER DEFAULT/**/(random()))",
        "CREATE TABLE u(id TEXT PRIMARY KEY, -- it's\n n INTEGER DEFAULT (random()), -- '\n m TEXT)",
        "CREATE TABLE u(id TEXT PRIMARY KEY, at TEXT DEFAULT /* now */ current_time)",
        "CREATE TABLE u(id TEXT PRIMARY KEY, n INTEGER CHECK (random() > 0))",
        "CREATE TABLE u(id TEXT PRIMARY KEY, t TEXT REFERENCES t(id) ON/* */UPDATE SET NULL)",
        "CREATE TABLE u(id TEXT PRIMARY KEY, n INTEGER UNIQUE ON CONFLICT ROLLBACK)",
        "CREATE TABLE u(id TEXT PRIMARY KEY ON CONFLICT REPLACE)",
        "CREATE TABLE u AS SELECT id FROM t",
        "CREATE TABLE temp.u(id TEXT PRIMARY KEY)",
        "CREATE TABLE calls(id TEXT PRIMARY KEY)",
        "CREATE VIEW Calls AS SELECT id FROM t",
        "CREATE VIEW w AS SELECT id FROM temp.calls",
        'CREATE TABLE "a b"(id TEXT PRIMARY KEY)',
        'CREATE TABLE u("i""d" TEXT PRIMARY KEY)',
        "CREATE INDEX i ON t(random())",
        "CREATE INDEX i ON t(n); DROP TABLE t",
        "REINDEX",
        "/* CREATE TABLE */ DROP TABLE t",
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
        "SELECT date(x'6e6f77')",
        "SELECT date(CAST('now' AS BLOB))",
        "SELECT date(:nul)",
        "SELECT date('2026-01-01', :local)",
        "SELECT strftime(:format, '2026-01-01', 'localtime')",
        "SELECT time(' Now ')",
        'SELECT date("now")',
        "SELECT date(replace('n-w', '-', 'o'))",
        "SELECT day FROM (SELECT date('now') AS day)",
        "SELECT max(unixepoch(word)) FROM (SELECT 'n'||'ow' AS word)",
    ],
)
def test_the_clock_of_the_machine_is_out_of_reach(database: Database, sql: str) -> None:
    statement = database.statement(sql, "read")
    bound = {"word": "now", "at": "2026-03-14T09:00:00Z", "nul": "now\0z", "local": "utc\0", "format": "%s"}
    with pytest.raises(StatementFailed):
        database.run(statement, bound)


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
        "SELECT CAST(x'ff' AS TEXT) AS no_text",
        "SELECT json_extract('\"\\ud800\"', '$') AS half",
        "SELECT 9e999 AS beyond",
        "SELECT -1e308 * 10 AS below",
        "SELECT a.n FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t o, t p, t q, t r",
        "SELECT json_extract(printf('%.*c', 30000, '['), '$[0]')",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT json_group_array(x) FROM c",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT group_concat(x, printf('%.*c', 300, 'a')) FROM c",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT printf('%.*c', 9000, 'a')||x AS y FROM c ORDER BY y",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c",
        "SELECT 'a' LIKE printf('%.*c', 300, '%')",
        "SELECT strftime(printf('%.*c', 300, 'Y'), '2026-01-01')",
        "SELECT abs(-9223372036854775807 - 1)",
        "SELECT sum(x) FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT 1)",
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


@pytest.mark.parametrize(
    "call",
    [
        "instr(printf('%.*c', 30000, 'a')||x, printf('%.*cb', 15000, 'a')||x)",
        "length(replace(printf('%.*c', 30000, 'a')||x, printf('%.*cb', 15000, 'a'), 'z'))",
    ],
)
def test_few_steps_that_take_long_are_stopped_too(database: Database, call: str) -> None:
    numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 5000)"
    statement = database.statement(f"{numbers} SELECT sum({call}) AS n FROM c", "read")
    began = time.thread_time()
    with pytest.raises(StatementFailed):
        database.run(statement, {})
    assert time.thread_time() - began < limits.MAX_SECONDS + 5


def test_a_world_cannot_outgrow_its_pages() -> None:
    database = Database(["CREATE TABLE t(id TEXT PRIMARY KEY, body TEXT)"], {})
    fill = database.statement("INSERT INTO t(id, body) SELECT :x||count(*), printf('%.*c', 30000, 'a') FROM t", "write")

    def outgrow() -> None:
        for _ in range(limits.MAX_PAGES):
            database.run(fill, {"x": "k"})

    with pytest.raises(StatementFailed, match="full"):
        outgrow()


@pytest.mark.parametrize(
    "values",
    [
        "('c', x'00')",
        "('c', CAST(x'ff' AS TEXT))",
        "('c', 9e999)",
        "(NULL, 'no key')",
    ],
)
def test_a_row_that_no_record_could_hold_is_noticed(values: str) -> None:
    database = Database(["CREATE TABLE t(id TEXT PRIMARY KEY, body)"], {"t": [{"id": "a", "body": "b"}]})
    database.run(database.statement(f"INSERT INTO t VALUES {values}", "write"), {})
    with pytest.raises(StatementFailed):
        database.content("t")


def test_no_key_is_chosen_by_chance() -> None:
    database = Database(["CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER)"], {"t": [{"id": 1, "n": 1}]})
    database.run(database.statement("INSERT INTO t(n) VALUES (2)", "write"), {})
    assert database.content("t") == ((1, 1), (2, 2))
    database.run(database.statement("INSERT INTO t(id, n) VALUES (9223372036854775807, 3), (NULL, 4)", "write"), {})
    with pytest.raises(StatementFailed):
        database.content("t")


def test_a_view_may_reckon_with_dates_and_reads_of_it_are_known_by_its_tables() -> None:
    view = "CREATE VIEW days AS SELECT id, date(at) AS day FROM t"
    database = Database([*SCHEMA, view], ROWS)  # type: ignore[arg-type]
    statement = database.statement("SELECT day FROM days WHERE id='a'", "read")
    assert database.run(statement, {}) == [{"day": "2026-03-14"}]
    assert ("t", "at") in statement.reads


def test_a_judge_that_counts_the_calls_is_known_to_read_them_however_it_spells_them(database: Database) -> None:
    for spelling in ("calls", "CALLS", "temp.Calls"):
        assert database.statement(f"SELECT count(*)>0 FROM {spelling}", "judge").reads_calls


def test_what_a_statement_binds_is_known(database: Database) -> None:
    statement = database.statement("SELECT :a, @b, $c, ':d' -- :e", "read")
    assert statement.parameters == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("cell", "truth"),
    [(None, False), (0, False), (0.0, False), (2, True), (-0.5, True), ("0", False), ("1x", True), ("x", False)],
    ids=repr,
)
def test_truth_is_what_sql_takes_for_it(database: Database, cell: object, truth: bool) -> None:
    rows = database.run(database.statement("SELECT :x AS x", "read"), {"x": cell})
    assert is_true(rows) is truth
    assert database.run(database.statement("SELECT CASE WHEN :x THEN 1 ELSE 0 END AS x", "read"), {"x": cell}) == [
        {"x": int(truth)}
    ]


def test_the_words_of_a_statement_are_what_no_comment_or_string_holds() -> None:
    assert bare("SELECT 'it''s; x' -- it's\n, \"a'b\" /* ' */ FROM t").split() == [
        "SELECT",
        "''",
        ",",
        '"a\'b"',
        "FROM",
        "t",
    ]
