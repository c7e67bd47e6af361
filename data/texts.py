"""Reading a set of texts from whatever it is kept in: lines, JSON, a table, a release."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from agentbound.data.records import Record
from agentbound.errors import UsageError

__all__ = ["Texts", "read_texts"]

USUAL: Final = ("instruction", "text", "prompt", "User Instruction", "question", "input")
"""Columns that are tried, in this order, where none is named."""

_TABLES: Final = (".csv", ".tsv", ".parquet")


class Texts(Record):
    """Texts, and for each the group (a family, say) in which likeness does not count. Without groups each is its own."""

    texts: tuple[str, ...]
    groups: tuple[str, ...]


def read_texts(path: Path, column: str | None = None, group: str | None = None) -> Texts:
    """Texts from a `.txt` file (a line each), `.json`, `.jsonl`, `.csv`, `.tsv` or `.parquet`.

    `column` names where the text is, `group` what belongs together. Raises `UsageError` for files that cannot be read
    so, and for fewer than two groups.
    """
    if not path.is_file():
        raise UsageError(f"there is no file {path}; name texts in .txt, .json, .jsonl, .csv, .tsv or .parquet")
    try:
        rows = _rows(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {str(error).splitlines()[0]}; look at the file") from None
    texts = [_field(row, column, path, number) for number, row in enumerate(rows, 1)]
    groups = [str(number) for number in range(len(rows))]
    if group is not None:
        groups = [_field(row, group, path, number) for number, row in enumerate(rows, 1)]
    if len(set(groups)) < 2:
        raise UsageError(
            f"{path} has {len(texts)} texts in {len(set(groups))} groups; two groups or more can be compared"
        )
    return Texts(texts=tuple(texts), groups=tuple(groups))


def _rows(path: Path) -> Sequence[Any]:
    kind = path.suffix.lower()
    if kind in _TABLES:
        return _table(path, kind)
    text = path.read_text(encoding="utf-8")
    if kind == ".json":
        data = json.loads(text)
        return data if isinstance(data, list) else list(data.values()) if isinstance(data, dict) else [data]
    lines = [line for line in text.splitlines() if line.strip()]
    return [json.loads(line) for line in lines] if kind == ".jsonl" else lines


def _table(path: Path, kind: str) -> Sequence[Any]:
    import polars as pl

    try:
        frame = (
            pl.read_parquet(path)
            if kind == ".parquet"
            else pl.read_csv(path, separator="\t" if kind == ".tsv" else ",", infer_schema=False)
        )
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from None
    return frame.to_dicts()


def _field(row: Any, name: str | None, path: Path, number: int) -> str:
    if isinstance(row, str) and name is None:
        return row
    if not isinstance(row, Mapping):
        raise UsageError(f"{path}, entry {number}, is no object with columns; give lines of text, or objects")
    found = name or next((usual for usual in USUAL if usual in row), None)
    if found is None or not isinstance(row.get(found), str | int):
        columns = ", ".join(map(str, row)) or "none"
        raise UsageError(f"{path}, entry {number}, has no text {found or USUAL[0]}; name one of its columns: {columns}")
    return str(row[found])
