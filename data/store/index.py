"""A DuckDB index over a run's segments. It holds nothing of its own: it is built again whenever it does not fit them.

It lies in RUN/index.duckdb, or in memory when that file cannot be written or another process has it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agentbound.data.canonical import digest
from agentbound.data.store.events import Event
from agentbound.data.store.history import EVENTS, OBJECTS, History, read_history
from agentbound.data.store.plan import Plan
from agentbound.data.store.segments import segment_files

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

INDEX_FILE: Final = "index.duckdb"
_VERSION: Final = 1

TABLES: Final[dict[str, dict[str, str]]] = {
    "slots": {"position": "INTEGER", "slot": "VARCHAR", "category": "VARCHAR", "risk_class": "VARCHAR"},
    "outcomes": {
        "slot": "VARCHAR",
        "outcome": "VARCHAR",
        "stage": "VARCHAR",
        "attempts": "INTEGER",
        "family_id": "VARCHAR",
        "family": "VARCHAR",
        "certificate": "VARCHAR",
        "draft": "VARCHAR",
        "reasons": "VARCHAR[]",
    },
    "findings": {"slot": "VARCHAR", "outcome": "VARCHAR", "stage": "VARCHAR", "code": "VARCHAR", "count": "INTEGER"},
    "drafts": {
        "position": "INTEGER",
        "slot": "VARCHAR",
        "stage": "VARCHAR",
        "attempt": "INTEGER",
        "draft": "VARCHAR",
        "codes": "VARCHAR[]",
    },
    "stages": {"position": "INTEGER", "stage": "VARCHAR", "shard": "VARCHAR", "data": "VARCHAR"},
    "gates": {"position": "INTEGER", "gate": "VARCHAR", "passed": "BOOLEAN", "data": "VARCHAR"},
    "releases": {
        "position": "INTEGER",
        "version": "VARCHAR",
        "path": "VARCHAR",
        "content_hash": "VARCHAR",
        "data": "VARCHAR",
    },
    "objects": {"digest": "VARCHAR", "segment": "VARCHAR", "start": "BIGINT", "length": "BIGINT"},
}
"""Columns by table. `findings` counts what was found on the way to each outcome; `data` is JSON; `draft`, `family` and
`certificate` are digests of objects; `position` orders the rows as they were asked for or recorded."""

_TABLE_OF: Final = {"draft": "drafts", "stage": "stages", "gate": "gates", "release": "releases"}


def open_index(run: Path, plan: Plan) -> DuckDBPyConnection:
    """A connection to an index that fits the run's segments as they are now.

    Raises `StoreCorrupt` when the index has to be built and the segments are damaged.
    """
    # Taken before the segments are read: what is written meanwhile makes the index look old, never new.
    state = _state(run)
    return _open_file(run, plan, state) or _open_memory(run, plan, state)


def _open_file(run: Path, plan: Plan, state: str) -> DuckDBPyConnection | None:
    import duckdb

    path = run / INDEX_FILE
    for _ in range(2):
        try:
            connection = duckdb.connect(str(path))
            try:
                if _state_of(connection) != state:
                    _build(connection, run, plan, state)
            except BaseException:
                connection.close()
                raise
        except duckdb.Error as error:
            if "Could not set lock" in str(error) or not _deleted(path):
                return None
        else:
            return connection
    return None


def _open_memory(run: Path, plan: Plan, state: str) -> DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect(":memory:")
    _build(connection, run, plan, state)
    return connection


def _deleted(path: Path) -> bool:
    """Whether a broken index is out of the way."""
    try:
        path.unlink(missing_ok=True)
        path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _state(run: Path) -> str:
    """Changes whenever a segment does."""
    files = [path for log in (EVENTS, OBJECTS) for path in segment_files(run / log)]
    stats = [(path.parent.name, path.name, path.stat()) for path in files]
    return digest([_VERSION, [[log, name, stat.st_size, stat.st_mtime_ns] for log, name, stat in stats]])


def _state_of(connection: DuckDBPyConnection) -> str | None:
    known = connection.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'state'").fetchone()
    if known is None or known[0] == 0:
        return None
    row = connection.execute("SELECT state FROM state").fetchone()
    return None if row is None else str(row[0])


def _build(connection: DuckDBPyConnection, run: Path, plan: Plan, state: str) -> None:
    rows = _rows(plan, read_history(run))
    connection.execute("BEGIN")
    for table, columns in TABLES.items():
        declared = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        connection.execute(f'CREATE OR REPLACE TABLE "{table}" ({declared})')
        _fill(connection, table, columns, rows[table])
    connection.execute("CREATE OR REPLACE TABLE state (state VARCHAR)")
    connection.execute("INSERT INTO state VALUES (?)", [state])
    connection.execute("COMMIT")


def _fill(connection: DuckDBPyConnection, table: str, columns: dict[str, str], rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    # One JSON parameter for the table: a row at a time takes a hundred times as long.
    shape = json.dumps([{name: [kind[:-2]] if kind.endswith("[]") else kind for name, kind in columns.items()}])
    text = json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace").decode()
    connection.execute(f'INSERT INTO "{table}" SELECT r.* FROM (SELECT unnest(from_json(?, ?)) AS r)', [text, shape])


def _rows(plan: Plan, history: History) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in TABLES}
    rows["slots"] = [
        {"position": i, "slot": slot.id, "category": slot.category, "risk_class": slot.risk_class}
        for i, slot in enumerate(plan.slots)
    ]
    for position, event in enumerate(history.latest.values()):
        _add(rows, position, event)
    rows["objects"] = [
        {"digest": address, "segment": place.segment, "start": place.start, "length": place.length}
        for address, place in history.objects.items()
    ]
    return rows


def _add(rows: dict[str, list[dict[str, Any]]], position: int, event: Event) -> None:
    fields = event.model_dump(mode="json")
    if event.kind == "accepted" or event.kind == "rejected":
        row = {name: fields.get(name) for name in TABLES["outcomes"]} | {"outcome": event.kind}
        rows["outcomes"].append(row | {"reasons": fields.get("reasons", [])})
        rows["findings"] += _counts(event.slot, event.kind, event.stage, event.findings.items())
        return
    if "data" in fields:
        fields["data"] = json.dumps(fields["data"], ensure_ascii=False)
    table = _TABLE_OF[event.kind]
    rows[table].append({name: fields.get(name) for name in TABLES[table]} | {"position": position})


def _counts(slot: str, outcome: str, stage: str, counts: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
    return [{"slot": slot, "outcome": outcome, "stage": stage, "code": code, "count": count} for code, count in counts]
