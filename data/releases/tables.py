"""Tables of a release as parquet, the same bytes whenever the rows are the same (and the library is)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from agentbound.data.canonical import canonical
from agentbound.errors import ReleaseError

ROWS_A_GROUP: Final = 100
"""Small enough for the Hub's viewer, whose limit is 300 MB a row group."""

ROWS_A_CHECK: Final = 1_000
"""How many rows a check looks at together; it copies them."""

Rows = list[dict[str, Any]]


def write_table(path: Path, rows: Rows, columns: Sequence[str], guid: str) -> None:
    """Write rows, already in their order, with the canary in the file's metadata too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"permitted": pa.bool_()}
    fields = [pa.field(name, types.get(name, pa.string()), nullable=False) for name in columns]
    schema = pa.schema(fields, metadata={"canary": guid})
    path.parent.mkdir(parents=True, exist_ok=True)
    # One group at a time, so that the whole table never stands in memory a second time.
    with pq.ParquetWriter(path, schema, compression="zstd", store_schema=True) as writer:
        for start in range(0, len(rows), ROWS_A_GROUP):
            writer.write_table(pa.Table.from_pylist(rows[start : start + ROWS_A_GROUP], schema=schema))


def read_table(path: Path) -> Rows:
    """The rows of a table. Raises `ReleaseError` where the file is missing or no parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: Rows = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(f"{path} cannot be read as parquet: {error}; fetch the release again") from None
    return rows


def check_public(config: str, rows: Rows, columns: Sequence[str]) -> None:
    """Hold public rows to their schema: these columns and no others, all text, ids unique. Raises `ReleaseError`."""
    import pandera.errors
    import pandera.polars as pa
    import polars as pl

    schema = pa.DataFrameSchema({name: pa.Column(pl.String, nullable=False) for name in columns}, strict=True)
    try:
        for start in range(0, len(rows), ROWS_A_CHECK):
            schema.validate(pl.DataFrame(rows[start : start + ROWS_A_CHECK], infer_schema_length=None), lazy=True)
    except (pandera.errors.SchemaErrors, pl.exceptions.PolarsError, TypeError) as error:
        raise ReleaseError(f"the public config {config} breaks its schema: {error}; nothing was written") from None
    if len({row["task_id"] for row in rows}) != len(rows):
        raise ReleaseError(f"the public config {config} has a task id twice; release each family once")


def content_hash(tables: dict[str, Rows]) -> str:
    """The identity of tables: the SHA-256 of their canonical rows, whatever the parquet library makes of them."""
    total = hashlib.sha256()
    for name in sorted(tables):
        total.update(f"{name}\n".encode())
        for row in tables[name]:
            total.update(canonical(row).encode("utf-8", "surrogatepass"))
            total.update(b"\n")
    return total.hexdigest()
