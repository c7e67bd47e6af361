"""What a statement of a record may use, and how much of it. SQL from a record is hostile input."""

from __future__ import annotations

from typing import Final

MAX_ROWS: Final = 400
"""Rows one observation may have."""

MAX_CHANGES: Final = 400
"""Rows one write call may change."""

MAX_BYTES: Final = 262_144
"""Bytes one observation, one cell or one argument may have."""

MAX_PAGES: Final = 8_192
"""Pages of 4 KiB the whole world may fill."""

MAX_SQL: Final = 20_000
"""Characters of one statement."""

TICK: Final = 2_000
"""Virtual machine steps between two looks at the step bound."""

MAX_TICKS: Final = 500
"""Looks before a statement is stopped: a million steps, some tens of milliseconds."""

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
