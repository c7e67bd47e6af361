"""What a statement gives back: rows of bounded size, whose cells a record could hold."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from agentbound.data.records import Cell, Row
from agentbound.sandbox import limits

_NUMBER: Final = re.compile(r"\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)


class StatementFailed(Exception):
    """A statement that ran into an error or a bound; the message is fit for an observation."""


def bounded(cursor: sqlite3.Cursor) -> list[tuple[Cell, ...]]:
    """All rows of a cursor, looked at one after another, so that too many are not fetched before they are refused."""
    rows: list[tuple[Cell, ...]] = []
    size = 0
    for row in cursor:
        size += check_cells(row)
        rows.append(row)
        if size > limits.MAX_BYTES or len(rows) > limits.MAX_ROWS:
            cursor.close()
            what = f"{limits.MAX_ROWS} rows" if len(rows) > limits.MAX_ROWS else f"{limits.MAX_BYTES} characters"
            raise StatementFailed(f"more than {what}")
    return rows


def check_cells(row: tuple[Any, ...]) -> int:
    """The size of a row in characters. Raises `StatementFailed` for a cell that JSON cannot say."""
    size = 0
    for value in row:
        if isinstance(value, str):
            size += len(value)
        elif isinstance(value, bytes):
            raise StatementFailed("a cell would hold bytes that are not text")
        elif isinstance(value, float) and not math.isfinite(value):
            raise StatementFailed("a number is out of range")
        else:
            size += 8
    return size


def is_true(rows: Sequence[Row]) -> bool:
    """Whether the first cell of the first row is true, as SQL has it: a text by the number it begins with.

    No row is false.
    """
    cell = next(iter(rows[0].values())) if rows else None
    if isinstance(cell, str):
        number = _NUMBER.match(cell)
        return number is not None and float(number[0]) != 0
    return bool(cell)
