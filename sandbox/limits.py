"""What a statement of a record may use, and how much of it. SQL from a record is hostile input."""

from __future__ import annotations

from typing import Final

MAX_ROWS: Final = 400
"""Rows one observation may have."""

MAX_CHANGES: Final = 400
"""Rows one write call may change."""

MAX_BYTES: Final = 262_144
"""Characters one observation may have, all cells together."""

MAX_CELL: Final = 32_768
"""Bytes one cell, one argument or all arguments of a call may have."""

MAX_COLUMNS: Final = 100
"""Columns of a table or of an observation."""

MAX_PAGES: Final = 8_192
"""Pages of 4 KiB the whole world may fill."""

MAX_SQL: Final = 20_000
"""Characters of one statement."""

TICK: Final = 1_000
"""Virtual machine steps between two looks at the step bound."""

MAX_TICKS: Final = 60
"""Looks before a statement is stopped: 60,000 steps, a few milliseconds; an honest statement takes two thousand."""

MAX_SECONDS: Final = 0.5
"""CPU time before a statement is stopped. Few steps can take long (a search in a long text); honest ones never come near."""

FUNCTIONS: Final = frozenset(
    [
        "abs",
        "avg",
        "coalesce",
        "count",
        "date",
        "datetime",
        "format",
        "glob",
        "group_concat",
        "ifnull",
        "iif",
        "instr",
        "json_array_length",
        "json_each",
        "json_extract",
        "json_group_array",
        "julianday",
        "length",
        "like",
        "lower",
        "max",
        "min",
        "nullif",
        "printf",
        "replace",
        "round",
        "row_number",
        "strftime",
        "substr",
        "substring",
        "sum",
        "time",
        "total",
        "trim",
        "typeof",
        "unixepoch",
        "upper",
    ]
)
"""Functions a record may call: no chance, no clock (the date functions are our own, see `agentbound.sandbox.dates`)."""

TABLE_FUNCTIONS: Final = frozenset({"json_each"})
"""Table-valued functions a record may read from."""
