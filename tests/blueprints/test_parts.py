"""Every application part, under its default names and under others: its schema, its statements, what its reads show."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from agentbound.data.blueprint import ToolSpec
from agentbound.data.blueprint.placeholders import named_in
from agentbound.data.blueprint.uses import SECTIONS, part, part_names, use_part
from agentbound.data.records import Observes, Transition
from agentbound.generators.embedded.tools import transition_record
from agentbound.sandbox.database import Database

NAMES = part_names()
NOBODY = "no-such-value"

Row = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """A part with its parameters filled in, and what the record says of its tools."""

    schema: list[str]
    tables: list[str]
    views: list[str]
    tools: dict[str, ToolSpec]
    transitions: dict[str, Transition]


def made(name: str, **params: str) -> Made:
    used = use_part({"part": name, **params})
    assert used.problems == []
    pieces = used.made
    tables = [f"CREATE TABLE {table}({columns})" for table, columns in pieces["tables"].items()]
    views = [f"CREATE VIEW {view} AS {select}" for view, select in pieces["views"].items()]
    return Made(
        [*tables, *views],
        list(pieces["tables"]),
        list(pieces["views"]),
        {tool: ToolSpec.model_validate(spec) for tool, spec in pieces["tools"].items()},
        {tool: Transition.model_validate(transition_record(spec)) for tool, spec in pieces["tools"].items()},
    )


def renamed(name: str) -> dict[str, str]:
    """Another value for every parameter of a part."""
    return {param: f"other_{default.replace(' ', '_')}" for param, default in part(name).file.params.items()}


@pytest.fixture(params=[f"{n}-{kind}" for n in NAMES for kind in ("default", "renamed")])
def filled(request: pytest.FixtureRequest) -> Made:
    name, _, kind = str(request.param).partition("-")
    return made(name, **(renamed(name) if kind == "renamed" else {}))


@pytest.fixture
def connection(filled: Made) -> Iterator[sqlite3.Connection]:
    """The part's tables with three rows each, columns alternately equal in the first two and in the last two."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        opened.row_factory = sqlite3.Row
        for statement in filled.schema:
            opened.execute(statement)
        opened.execute("PRAGMA foreign_keys=ON")
        for table in filled.tables:
            _fill(opened, table)
        yield opened


def _fill(connection: sqlite3.Connection, table: str) -> None:
    parents = {r["from"]: r["table"] for r in connection.execute(f"PRAGMA foreign_key_list({table})")}
    info = connection.execute(f"PRAGMA table_info({table})").fetchall()
    for n in (3, 1, 2):  # the order of the rows is not that of the keys
        values: list[Any] = []
        for at, column in enumerate(info):
            group = ((1, 1, 2), (1, 2, 2))[at % 2][n - 1]
            if column["pk"]:
                values.append(f"{table}-{n}")
            elif column["name"] in parents:
                values.append(f"{parents[column['name']]}-{group}")
            else:
                values.append(group if column["type"] == "INTEGER" else f"{column['name']} {group}")
        connection.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)


def rows_of(connection: sqlite3.Connection, sql: str, bound: Row) -> list[Row]:
    return [dict(row) for row in connection.execute(sql, {"now": "2026-03-14T09:00:00Z", "caller": "desk", **bound})]


def content(connection: sqlite3.Connection, table: str) -> dict[str, Row]:
    return {row["id"]: row for row in rows_of(connection, f"SELECT * FROM {table}", {})}


@pytest.mark.parametrize("name", NAMES)
def test_renaming_leaves_no_default_name(name: str) -> None:
    before, after = made(name), made(name, **renamed(name))
    for kind in ("tables", "views", "tools"):
        assert not set(getattr(before, kind)) & set(getattr(after, kind))
    words = set(re.findall(r"\w+", " ".join([*after.schema, *(s for t in after.transitions.values() for s in t.sql)])))
    assert not words & set(before.tables)


def test_all_parts_can_stand_in_one_blueprint() -> None:
    for section in SECTIONS:
        names = [made_name for part_name in NAMES for made_name in use_part({"part": part_name}).made[section]]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_used(name: str) -> None:
    raw = part(name).raw
    assert set(named_in(str({section: raw.get(section) for section in SECTIONS}))) == set(raw["params"])


def test_schema_and_statements_are_such_as_a_record_may_have(filled: Made) -> None:
    database = Database(filled.schema, {})
    assert set(database.primary_keys.values()) == {"id"}
    for tool, transition in filled.transitions.items():
        params = set(filled.tools[tool].params)
        statements = [database.statement(sql, transition.kind) for sql in transition.sql]
        requirements = [database.statement(r.sql, "read") for r in transition.requires]
        used = {p for s in [*statements, *requirements] for p in s.parameters}
        assert params <= used <= params | {"now"}, tool


def test_tables_hold_text_and_whole_numbers_under_plain_names(filled: Made, connection: sqlite3.Connection) -> None:
    for table in filled.tables:
        columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
        assert [c["name"] for c in columns if c["pk"]] == ["id"]
        assert {c["type"] for c in columns} <= {"TEXT", "INTEGER"}
        parents = {r["table"] for r in connection.execute(f"PRAGMA foreign_key_list({table})")}
        assert parents <= set(filled.tables)


def test_a_view_leaves_rows_out_and_changes_none(filled: Made, connection: sqlite3.Connection) -> None:
    whole = [row for table in filled.tables for row in content(connection, table).values()]
    for view in filled.views:
        assert all(row in whole for row in content(connection, view).values())


def test_reads_show_rows_as_they_are_and_all_of_their_scope(filled: Made, connection: sqlite3.Connection) -> None:
    for tool, transition in filled.transitions.items():
        if transition.kind == "read":
            assert transition.observes, tool
            seen = [_looks_right(connection, transition, args) for args in _calls(connection, filled, tool)]
            assert any(seen), f"{tool} shows nothing in any call"


def _calls(connection: sqlite3.Connection, filled: Made, tool: str) -> Iterator[Row]:
    """Arguments: the values of the columns they are compared with, and one that no row has."""
    first = filled.transitions[tool].observes[0]
    columns = {param: column for column, param in (first.scope or {}).items()}
    choices: list[list[str]] = []
    rows = content(connection, first.table).values()
    for param in filled.tools[tool].params:
        column = columns.get(param, param)
        values = {row[column] if column in row else row["id"] for row in rows}
        choices.append([*sorted(values), NOBODY])
    for chosen in product(*choices):
        yield dict(zip(filled.tools[tool].params, chosen, strict=True))


def _looks_right(connection: sqlite3.Connection, transition: Transition, args: Row) -> bool:
    rows = rows_of(connection, transition.sql[-1], args)
    for observes in transition.observes:
        actual = content(connection, observes.table)
        keys = [row[observes.key] for row in rows]
        assert set(keys) <= set(actual)
        if observes.scope is not None:
            assert set(keys) == _due(observes, actual, args)
    for row in rows:
        originals = [content(connection, o.table)[row[o.key]] for o in transition.observes]
        for column, value in row.items():
            if column not in {o.key for o in transition.observes}:
                assert value == next(original[column] for original in originals if column in original)
    return bool(rows)


def _due(observes: Observes, actual: dict[str, Row], args: Row) -> set[str]:
    scope = observes.scope or {}
    return {key for key, row in actual.items() if all(row[column] == args[p] for column, p in scope.items())}


def test_a_read_gives_one_row_by_key_or_a_list_in_one_order(filled: Made) -> None:
    for transition in filled.transitions.values():
        if transition.kind == "read":
            sql = transition.sql[-1]
            assert re.search(r" WHERE id=:\w+$| ORDER BY (\w+, )?(\w\.)?id$", sql), sql


def test_writes_hand_on_the_key_of_what_they_wrote(filled: Made, connection: sqlite3.Connection) -> None:
    for tool, transition in filled.transitions.items():
        if transition.kind == "read":
            continue
        args = {p: _argument(filled, tool, p) for p in filled.tools[tool].params}
        keys = []
        for _ in range(2):
            assert all(rows_of(connection, r.sql, args)[0].popitem()[1] for r in transition.requires)
            for sql in transition.sql:
                rows = rows_of(connection, sql, args)
            assert len(rows) == 1
            keys.append(next(iter(rows[0].values())))
        tables = {key for table in filled.tables for key in content(connection, table)}
        assert set(keys) <= tables
        assert len(set(keys)) == (2 if transition.sql[-1].startswith("INSERT") else 1)


def _argument(filled: Made, tool: str, param: str) -> Any:
    known = filled.tools[tool].known.get(param)
    kind = filled.tools[tool].params[param]
    if known:
        return f"{known[0]}-1"
    whole = kind == "whole" or (isinstance(kind, dict) and kind.get("type") == "integer")
    return 1 if whole else "2026-03-14T10:00:00Z"


def test_calls_for_what_is_not_there_are_told_so(filled: Made, connection: sqlite3.Connection) -> None:
    for tool, transition in filled.transitions.items():
        for requirement in transition.requires:
            args = dict.fromkeys(filled.tools[tool].params, NOBODY)
            assert [*rows_of(connection, requirement.sql, args)[0].values()] == [0]
            assert requirement.error


@pytest.mark.parametrize(
    ("name", "view", "kept"),
    [
        ("approvals", "approvals_standing", "withdrawn_at"),
        ("consents", "consents_standing", "withdrawn_on"),
        ("holds", "holds_open", "lifted_on"),
        ("ledger", "entries_counting", "reversed_by"),
    ],
)
def test_views_leave_out_what_was_taken_back(name: str, view: str, kept: str) -> None:
    shown = _shown_by(made(name), view, {kept: None}, {kept: "EN-2"})
    assert shown == {"row-0"}


def test_a_licence_that_another_replaces_is_not_current() -> None:
    assert _shown_by(made("licences"), "licences_current", {"replaces": None}, {"replaces": "row-0"}) == {"row-1"}


def test_votes_in_favour_are_those_for_by_members_who_may_vote() -> None:
    votes = [{"vote": "for", "recused": 0}, {"vote": "for", "recused": 1}, {"vote": "against", "recused": 0}]
    assert _shown_by(made("quorum"), "votes_in_favour", *votes) == {"row-0"}


def _shown_by(filled: Made, view: str, *rows: Row) -> set[str]:
    """The keys a view shows of rows that differ in the columns given."""
    table = view.rpartition("_")[0].removesuffix("_in")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        for statement in filled.schema:
            connection.execute(statement)
        columns = [c["name"] for c in connection.execute(f"PRAGMA table_info({table})")]
        for number, given in enumerate(rows):
            row = {**dict.fromkeys(columns, "x"), "id": f"row-{number}", **given}
            connection.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", list(row.values()))
        return set(content(connection, view))


def test_the_page_for_writers_tells_of_everything_a_part_has(repository: Path) -> None:
    text = (repository / "data" / "parts" / "README.md").read_text(encoding="utf-8")
    pages = dict(section.split("\n", 1) for section in text.split("\n## ")[1:])
    assert sorted(pages) == NAMES
    for name in NAMES:
        lines = pages[name].splitlines()
        assert [start for start in _starts(name) if not any(line.startswith(start) for line in lines)] == []


def _starts(name: str) -> Iterator[str]:
    """How the lines of the page begin, a part's parameters, tables, views and tools each."""
    file = part(name).file
    yield "- params: " + ", ".join(f"`{param}: {default}`" for param, default in file.params.items())
    yield from (f"- table `{table}`: {columns}" for table, columns in file.tables.items())
    yield from (f"- view `{view}`: {select}" for view, select in file.views.items())
    for tool, spec in file.tools.items():
        kind = "read" if spec.read else "incidental write" if spec.incidental else "write"
        handed = "" if spec.read else f" Hands on {_handed_on(str(spec.write))}."
        yield f"- {kind} `{tool}`({', '.join(spec.params)}): {spec.about}{handed}"


def _handed_on(write: str) -> str:
    """The columns after RETURNING, under the names a later step takes them by."""
    return ", ".join(f"`{column.split()[-1]}`" for column in write.partition(" RETURNING ")[2].split(", "))
