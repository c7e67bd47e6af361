"""What a world is made of as values: calls, the states they lead between, and what they did."""

from __future__ import annotations

import hashlib
import json
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from agentbound.data.canonical import plain, write
from agentbound.data.records import Cell, Change, Row
from agentbound.sandbox.database import Statement

Status = Literal["ok", "error", "refused"]
Table = tuple[tuple[Cell, ...], ...]
Net = dict[tuple[str, str], int]
"""Rows changed, by (table, op)."""

NOT_JSON: Final = "not JSON: "
"""What the `key` of arguments begins with that are no JSON."""

_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call with its arguments and their canonical text (`key`), by which calls are compared."""

    tool: str
    args: Mapping[str, Any]
    key: str
    caller: str

    @classmethod
    def of(cls, tool: Any, args: Any, caller: Any) -> Call:
        """Whatever an agent sends becomes a call; what is not JSON keeps its `repr` as the key and fails the schema."""
        try:
            args = plain(args)
            key = write(args)
            if not key.isascii():
                key.encode()
            return cls(_name(tool), args, key, _name(caller))
        except (TypeError, ValueError, RecursionError):
            return cls(_name(tool), {}, NOT_JSON + _show(args), _name(caller))


def _show(value: Any) -> str:
    """A short `repr` of anything at all."""
    try:
        return reprlib.repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits
        return type(value).__name__


def _name(value: Any) -> str:
    """A name as text that can be written anywhere, and no longer than a name can be."""
    text = value if isinstance(value, str) else _show(value)
    if text.isascii() and len(text) <= _LONGEST_NAME:
        return text
    if len(text) > _LONGEST_NAME:
        text = text[:_LONGEST_NAME] + "…"
    return text.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call did, leaving aside whether it may: `state` is the one it leads to, the same where nothing changed."""

    status: Status
    rows: tuple[Row, ...]
    error: str | None
    state: State


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """A change of the database that can be replayed: a flip's rows or a write call's statements."""

    changes: tuple[Change, ...] = ()
    statements: tuple[Statement, ...] = ()
    bound: Mapping[str, Any] = field(default_factory=dict)

    @property
    def touches(self) -> frozenset[str]:
        """The tables it may change."""
        return frozenset(c.table for c in self.changes).union(*(s.writes for s in self.statements))


@dataclass(eq=False, slots=True)
class State:
    """The rows of every table, sorted by primary key; `id` is their hash.

    `history` is one way there from the rows of the record. `outcomes` and `facts` remember what was computed here.
    """

    tables: dict[str, Table]
    digests: dict[str, str]
    id: str
    history: tuple[Move, ...]
    outcomes: dict[tuple[str, str, str], Outcome] = field(default_factory=dict)
    facts: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, before: State | None, tables: Mapping[str, Table], history: tuple[Move, ...]) -> State:
        """The state with these tables, the others as they were `before`."""
        digests = {name: _hash(rows) for name, rows in tables.items()}
        if before is not None:
            tables, digests = {**before.tables, **tables}, {**before.digests, **digests}
        return cls(dict(tables), digests, _hash(sorted(digests.items())), history)


def difference(before: State, after: State, keys: Mapping[str, int]) -> Net:
    """Rows inserted, updated and deleted between two states; `keys` is the position of each table's primary key."""
    net: Net = {}
    for table, old_rows in before.tables.items():
        new_rows = after.tables[table]
        if old_rows is new_rows or before.digests[table] == after.digests[table]:
            continue
        at = keys[table]
        old, new = {r[at]: r for r in old_rows}, {r[at]: r for r in new_rows}
        counts = {
            "insert": len(new.keys() - old.keys()),
            "update": sum(new[k] != old[k] for k in new.keys() & old.keys()),
            "delete": len(old.keys() - new.keys()),
        }
        net.update({(table, op): n for op, n in counts.items() if n})
    return net


def _hash(value: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
