"""One in-memory SQLite database that runs the statements of a stranger's record, and nothing else.

Every statement is authorised once for the purpose it serves (`Purpose`), then run with bounds in steps, rows and
bytes. `Statement` tells what it reads and writes, as SQLite's authoriser saw it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from agentbound.data.records import Cell, Row
from agentbound.errors import SqlRefused
from agentbound.sandbox import dates, limits

Purpose = Literal["read", "write", "judge"]
Rows = list[Row]

_ALWAYS: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})
_WRITES: Final = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})
_CREATES: Final = frozenset({sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_VIEW, sqlite3.SQLITE_CREATE_INDEX})
_DDL: Final = _CREATES | _WRITES | _ALWAYS | {sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_REINDEX}
_CALLS: Final = "calls"
_FORBIDDEN_DDL: Final = re.compile(
    r"\b(AUTOINCREMENT|GENERATED|CURRENT_\w+|ON\s+(?:DELETE|UPDATE)\s+(?:CASCADE|SET)|DEFAULT\s*\(|AS\s*\()",
    re.IGNORECASE,
)
_CREATE: Final = re.compile(r"\s*CREATE\s+(TABLE|VIEW|INDEX|UNIQUE\s+INDEX)\b", re.IGNORECASE)


class StatementFailed(Exception):
    """A statement that ran into an error or a bound; the message is fit for an observation."""


@dataclass(frozen=True)
class Statement:
    """An authorised statement: the parameters it binds, the (table, column) it reads, the tables it writes."""

    sql: str
    parameters: frozenset[str]
    reads: frozenset[tuple[str, str]]
    writes: frozenset[str]
    reads_calls: bool


class _Names(dict[str, None]):
    """Bound in place of parameters while a statement is looked at: remembers the names SQLite asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    def __missing__(self, name: str) -> None:
        self.asked.add(name)


class Database:
    """The tables of one world. Not for use by several threads at once.

    Raises `SqlRefused` for a schema or rows that cannot be, naming the statement.
    """

    def __init__(self, schema: Sequence[str], rows: Mapping[str, list[Row]]) -> None:
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, cached_statements=512, check_same_thread=False
        )
        self._purpose: Purpose | Literal["ours", "ddl"] = "ours"
        self._reads: set[tuple[str, str]] = set()
        self._writes: set[str] = set()
        self._denied = ""
        self._ticks = 0
        self._statements: dict[tuple[str, Purpose], Statement] = {}
        self._relations: frozenset[str] = frozenset()
        self._restrict()
        self._create(schema)
        self.primary_keys = self._find_primary_keys()
        self.columns = {t: self._columns_of(t) for t in self.primary_keys}
        self._load(rows)

    # ---- looking at statements

    def statement(self, sql: str, purpose: Purpose) -> Statement:
        """Authorise a statement for a purpose. Raises `SqlRefused` with the reason."""
        known = self._statements.get((sql, purpose))
        if known is None:
            known = self._statements[sql, purpose] = self._authorise(sql, purpose)
        return known

    def _authorise(self, sql: str, purpose: Purpose) -> Statement:
        if len(sql) > limits.MAX_SQL:
            raise SqlRefused(f"a statement of {len(sql)} characters; {limits.MAX_SQL} are allowed")
        if ";" in sql.rstrip().rstrip(";"):
            self._refuse_second_statement(sql)
        self._reads, self._writes, self._denied = set(), set(), ""
        names = _Names()
        self._purpose = purpose
        try:
            # The purpose is part of the text, so that a statement prepared for another purpose is not taken from the cache.
            self._connection.execute(f"EXPLAIN /* {purpose} */ {sql}", names).close()
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            raise SqlRefused(f"{self._denied or error} in: {_short(sql)}") from None
        finally:
            self._purpose = "ours"
        if purpose == "write" and not self._writes:
            raise SqlRefused(f"a write that changes no table: {_short(sql)}")
        reads_calls = any(table == _CALLS for table, _ in self._reads)
        return Statement(sql, frozenset(names.asked), frozenset(self._reads), frozenset(self._writes), reads_calls)

    @staticmethod
    def _refuse_second_statement(sql: str) -> None:
        if not sqlite3.complete_statement(sql) or _splits(sql):
            raise SqlRefused(f"more than one statement in a string: {_short(sql)}")

    def _authoriser(self, action: int, one: str | None, two: str | None, database: str | None, _by: str | None) -> int:
        if self._purpose == "ours":
            return sqlite3.SQLITE_OK
        reason = self._objection(action, one or "", two or "", database or "main")
        if reason:
            self._denied = self._denied or reason
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    def _objection(self, action: int, one: str, two: str, database: str) -> str:
        """Why this action is not allowed for the present purpose; empty where it is."""
        if self._purpose == "ddl":
            return (
                "" if action in _DDL and database == "main" else "the schema may create tables, views and indexes alone"
            )
        if action in _ALWAYS:
            return ""
        if action == sqlite3.SQLITE_FUNCTION:
            return "" if two.lower() in limits.FUNCTIONS else f"function {two} is not allowed"
        if action == sqlite3.SQLITE_READ:
            return self._object_to_read(one, two)
        if action in _WRITES and self._purpose == "write":
            if one not in self._relations or database != "main":
                return f"no table {one} to write to"
            self._writes.add(one)
            return ""
        return "the statement does what a record's statement may not"

    def _object_to_read(self, table: str, column: str) -> str:
        if table == _CALLS and table not in self._relations:
            if self._purpose != "judge":
                return "the calls are for the judge alone"
        elif table not in self._relations and table not in limits.TABLE_FUNCTIONS:
            if column or table.lower().startswith(("sqlite_", "pragma_", "temp.")):
                return f"no table {table} to read from"
            return ""  # count(*) of a common table expression of the statement's own
        if column == "ROWID":
            return "rowid depends on history, not on the world"
        self._reads.add((table, column))
        return ""

    # ---- running statements

    def run(self, statement: Statement, bound: Mapping[str, Any]) -> Rows:
        """Run an authorised statement and give its rows. Raises `StatementFailed`; what it did is the caller's to undo."""
        self._ticks = 0
        try:
            cursor = self._connection.execute(statement.sql, bound)
            found = cursor.fetchmany(limits.MAX_ROWS + 1)
        except sqlite3.Error as error:
            if "interrupted" in str(error):
                raise StatementFailed("the statement took too many steps") from None
            raise StatementFailed(str(error)) from None
        except (OverflowError, UnicodeError):
            raise StatementFailed("an argument is out of range") from None
        if not cursor.description:
            return []
        if len(found) > limits.MAX_ROWS:
            cursor.close()
            raise StatementFailed(f"more than {limits.MAX_ROWS} rows")
        names = [d[0] for d in cursor.description]
        rows: Rows = [dict(zip(names, values, strict=True)) for values in found]
        self._check_cells(rows)
        return rows

    def truth(self, statement: Statement, bound: Mapping[str, Any]) -> bool:
        """Whether the first cell of the first row is true, as SQL has it; no row is false."""
        rows = self.run(statement, bound)
        return bool(rows) and bool(next(iter(rows[0].values())))

    @property
    def changes(self) -> int:
        """Rows changed so far, rolled back ones too."""
        return self._connection.total_changes

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def begin(self) -> None:
        self._connection.execute("BEGIN")

    def savepoint(self, name: str) -> None:
        self._connection.execute(f"SAVEPOINT {name}")

    def rollback(self, name: str) -> None:
        self._connection.execute(f"ROLLBACK TO {name}")

    def release(self, name: str) -> None:
        self._connection.execute(f"RELEASE {name}")

    def content(self, table: str) -> tuple[tuple[Cell, ...], ...]:
        """All rows of a table, sorted by its primary key."""
        return tuple(self._connection.execute(f'SELECT * FROM "{table}" ORDER BY "{self.primary_keys[table]}"'))

    def fill_calls(self, calls: Sequence[tuple[int, str, str, str, str, str | None]]) -> None:
        """Set what the judge sees as `calls`."""
        self._connection.execute("DELETE FROM temp.calls")
        self._connection.executemany("INSERT INTO temp.calls VALUES (?,?,?,?,?,?)", calls)

    def change(self, op: str, table: str, key: Cell, row: Row) -> int:
        """Insert a row, or update or delete the row with that key; gives the number of rows it hit.

        Raises `StatementFailed`. For flips: this is our own statement, not the record's.
        """
        if table not in self.primary_keys:
            raise StatementFailed(f"no table {table}")
        unknown = sorted(set(row) - set(self.columns[table]))
        if unknown:
            raise StatementFailed(f"no column {', '.join(unknown)} in {table}")
        names, pk = list(row), self.primary_keys[table]
        try:
            if op == "insert":
                marks = ",".join("?" * len(names))
                columns = ",".join(f'"{n}"' for n in names)
                cursor = self._connection.execute(f'INSERT INTO "{table}"({columns}) VALUES ({marks})', [*row.values()])
            elif op == "update":
                sets = ",".join(f'"{n}"=?' for n in names)
                cursor = self._connection.execute(f'UPDATE "{table}" SET {sets} WHERE "{pk}"=?', [*row.values(), key])
            else:
                cursor = self._connection.execute(f'DELETE FROM "{table}" WHERE "{pk}"=?', [key])
        except (sqlite3.Error, OverflowError, UnicodeError) as error:
            raise StatementFailed(str(error)) from None
        return cursor.rowcount

    # ---- setting up

    def _restrict(self) -> None:
        connection = self._connection
        connection.execute(f"PRAGMA max_page_count={limits.MAX_PAGES}")
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits.MAX_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 2 * limits.MAX_SQL)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200)
        connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100)
        connection.setlimit(sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 30)
        dates.install(connection)
        connection.execute(
            f"CREATE TEMP TABLE {_CALLS}(step INTEGER PRIMARY KEY, tool TEXT, args TEXT, status TEXT, caller TEXT, verdict TEXT)"
        )
        # SQLite declares a table-valued function at its first use, which looks like a change of the schema.
        connection.execute("SELECT 1 FROM json_each('[]')").close()
        connection.set_authorizer(self._authoriser)
        connection.set_progress_handler(self._tick, limits.TICK)

    def _tick(self) -> int:
        self._ticks += 1
        return int(self._ticks > limits.MAX_TICKS)

    def _create(self, schema: Sequence[str]) -> None:
        for sql in schema:
            created = _CREATE.match(sql)
            if created is None:
                raise SqlRefused(f"the schema may create tables, views and indexes alone: {_short(sql)}")
            found = _FORBIDDEN_DDL.search(_without_strings(sql)) if created[1].upper() == "TABLE" else None
            if found:
                raise SqlRefused(f"{found[0]} is not allowed in the schema: {_short(sql)}")
            self._denied = ""
            self._purpose = "ddl"
            try:
                self._connection.execute(sql)
            except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
                raise SqlRefused(f"{self._denied or error} in: {_short(sql)}") from None
            finally:
                self._purpose = "ours"
        found_names = self._connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table','view')")
        self._relations = frozenset(name for (name,) in found_names)

    def _find_primary_keys(self) -> dict[str, str]:
        keys = {}
        tables = self._connection.execute("SELECT name FROM sqlite_schema WHERE type='table' ORDER BY rowid").fetchall()
        for (table,) in tables:
            primary = [c[1] for c in self._connection.execute(f'PRAGMA table_info("{table}")') if c[5]]
            if len(primary) != 1:
                raise SqlRefused(f"table {table} has {len(primary)} primary key columns; it must have one")
            keys[table] = primary[0]
        return keys

    def _columns_of(self, table: str) -> list[str]:
        return [c[1] for c in self._connection.execute(f'PRAGMA table_info("{table}")')]

    def _load(self, rows: Mapping[str, list[Row]]) -> None:
        self.begin()
        for table, content in rows.items():
            for row in content:
                try:
                    self.change("insert", table, None, row)
                except StatementFailed as error:
                    raise SqlRefused(f"row {row.get(self.primary_keys.get(table, ''))} of {table}: {error}") from None
        broken = self._connection.execute("PRAGMA foreign_key_check").fetchone()
        if broken:
            raise SqlRefused(f"a row of {broken[0]} refers to a row of {broken[2]} that does not exist")
        self._connection.execute("COMMIT")
        self._connection.execute("PRAGMA foreign_keys=ON")
        self.begin()

    def _check_cells(self, rows: Rows) -> None:
        size = 0
        for row in rows:
            for value in row.values():
                if isinstance(value, bytes):
                    raise StatementFailed("an observation holds bytes that are not text")
                size += len(value) if isinstance(value, str) else 8
        if size > limits.MAX_BYTES:
            raise StatementFailed(f"an observation of more than {limits.MAX_BYTES} bytes")


def _short(sql: str) -> str:
    return sql if len(sql) <= 160 else sql[:157] + "…"


def _without_strings(sql: str) -> str:
    return re.sub(r"'(?:[^']|'')*'", "''", sql)


def _splits(sql: str) -> bool:
    """Whether a complete statement ends before the last character that means something."""
    body = sql.rstrip().rstrip(";")
    return any(sqlite3.complete_statement(body[: i + 1]) for i, c in enumerate(body) if c == ";")
