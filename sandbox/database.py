"""One in-memory SQLite database that runs the statements of a stranger's record, and nothing else.

Every statement is authorised once for the purpose it serves (`Purpose`), then run with bounds in steps, rows and
bytes. `Statement` tells what it reads and writes, as SQLite's authoriser saw it.
"""

from __future__ import annotations

import re
import sqlite3
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agentbound.data.records import Cell, Row
from agentbound.errors import SqlRefused
from agentbound.sandbox import dates, limits
from agentbound.sandbox.cells import StatementFailed, bounded, check_cells
from agentbound.sandbox.guard import CALLS, Guard, Meter, Purpose, bare
from agentbound.sandbox.schema import create, short, tables

Rows = list[Row]
CallRow = tuple[int, str, str, str, str, str | None]
"""A row of `calls`: step, tool, args, status, caller, verdict."""

_VERBS: Final = {
    "read": re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE),
    "judge": re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE),
    "write": re.compile(r"\s*(SELECT|WITH|INSERT|REPLACE|UPDATE|DELETE)\b", re.IGNORECASE),
}
_ROWID: Final = re.compile(r"\b(rowid|_rowid_|oid)\b", re.IGNORECASE)
_GREATEST: Final = 2**63 - 1


@dataclass(frozen=True)
class Statement:
    """An authorised statement: the parameters it binds, the (table, column) it reads, the tables it reads and writes.

    `tables` are those of the world that what it reads depends on, also where it reads them through a view.
    """

    sql: str
    parameters: frozenset[str]
    reads: frozenset[tuple[str, str]]
    tables: tuple[str, ...]
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

    What was authorised `like` another database of the same schema need not be authorised again.
    Raises `SqlRefused` for a schema or rows that cannot be, naming the statement.
    """

    def __init__(self, schema: Sequence[str], rows: Mapping[str, list[Row]], like: Database | None = None) -> None:
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, cached_statements=512, check_same_thread=False
        )
        weakref.finalize(self, self._connection.close)
        self._guard, self._meter = Guard(), Meter()
        self._statements: dict[tuple[str, Purpose], Statement] = like._statements if like else {}
        self._restrict()
        create(self._connection, self._guard, schema)
        known = tables(self._connection)
        self.primary_keys = {table: primary for table, (primary, _) in known.items()}
        self.columns = {table: columns for table, (_, columns) in known.items()}
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
        words = bare(sql)
        if not _VERBS[purpose].match(words):
            raise SqlRefused(f"no statement that a record may use to {purpose}: {short(sql)}")
        if purpose == "write" and _ROWID.search(words):
            raise SqlRefused(f"rowid depends on history, not on the world: {short(sql)}")
        names = _Names()
        try:
            with self._guard.serving(purpose):
                # The purpose is part of the text, so that a statement prepared for another one is not found in the
                # connection's cache. Of several statements in a string none is run.
                self._connection.execute(f"EXPLAIN /* {purpose} */ {sql}", names).close()
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            raise SqlRefused(f"{self._guard.denied or error} in: {short(sql)}") from None
        reads, writes = frozenset(self._guard.reads), frozenset(self._guard.writes)
        read = {table for table, _ in reads}
        behind = tuple(sorted(read & self.primary_keys.keys()))
        return Statement(sql, frozenset(names.asked), reads, behind, writes, CALLS in read)

    # ---- running statements

    def run(self, statement: Statement, bound: Mapping[str, Any]) -> Rows:
        """Run an authorised statement and give its rows.

        Raises `StatementFailed`; what the statement did until then is the caller's to undo.
        """
        try:
            self._meter.start()
            cursor = self._connection.execute(statement.sql, bound)
            if cursor.description is None:
                return []
            values = bounded(cursor)
        except sqlite3.Error as error:
            raise StatementFailed(_explain(str(error))) from None
        except (OverflowError, UnicodeError):
            raise StatementFailed("an argument is out of range") from None
        finally:
            self._meter.stop()
        names = [d[0] for d in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in values]

    def run_again(self, statement: Statement, bound: Mapping[str, Any]) -> None:
        """Run a write that has run within its bounds before, from a state with the same content."""
        self._connection.execute(statement.sql, bound).fetchall()

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
        """All rows of a table, sorted by its primary key. Raises `StatementFailed` for cells that no record has."""
        key = self.primary_keys[table]
        try:
            rows = tuple(self._connection.execute(f'SELECT * FROM "{table}" ORDER BY "{key}"'))
        except sqlite3.Error:
            raise StatementFailed("a cell would hold bytes that are not text") from None
        for row in rows:
            check_cells(row)
        if rows:
            # An empty key sorts first. After the greatest integer SQLite would choose the next key by chance.
            at = self.columns[table].index(key)
            if rows[0][at] is None or rows[-1][at] == _GREATEST:
                raise StatementFailed(f"a row of {table} would have no usable {key}")
        return rows

    def fill_calls(self, calls: Iterable[CallRow]) -> None:
        """Set what the judge sees as `calls`."""
        self._connection.execute(f"DELETE FROM temp.{CALLS}")
        self._connection.executemany(f"INSERT INTO temp.{CALLS} VALUES (?,?,?,?,?,?)", calls)

    def change(self, op: str, table: str, key: Cell, row: Row) -> int:
        """Insert a row, or update or delete the row with that key; gives the number of rows it hit.

        Raises `StatementFailed`. For flips: this is our own statement, not the record's.
        """
        if table not in self.primary_keys:
            raise StatementFailed(f"no table {table}")
        unknown = sorted(set(row) - set(self.columns[table]))
        if unknown:
            raise StatementFailed(f"no column {', '.join(unknown)} in {table}")
        if not row and op != "delete":
            raise StatementFailed(f"{op} of {table} says no column")
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
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits.MAX_CELL)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 2 * limits.MAX_SQL)
        connection.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, limits.MAX_COLUMNS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200)
        connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100)
        connection.setlimit(sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 30)
        dates.install(connection)
        connection.execute(
            f"CREATE TEMP TABLE {CALLS}"
            "(step INTEGER PRIMARY KEY, tool TEXT, args TEXT, status TEXT, caller TEXT, verdict TEXT)"
        )
        # SQLite declares a table-valued function at its first use, which looks like a change of the schema.
        connection.execute("SELECT 1 FROM json_each('[]')").close()
        modules = connection.execute("SELECT lower(name) FROM pragma_module_list")
        self._guard.modules = frozenset(name for (name,) in modules) - limits.TABLE_FUNCTIONS
        connection.set_authorizer(self._guard)
        connection.set_progress_handler(self._meter, limits.TICK)

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


def _explain(error: str) -> str:
    """SQLite's message, in the words of a world where it would mislead."""
    if "interrupted" in error:
        return "the statement took too many steps"
    if "user-defined function" in error:
        return "a date function was asked for the clock; a world has none but :now"
    return error
