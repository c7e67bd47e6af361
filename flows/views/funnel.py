"""The funnel at the end of a build, and the state of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table


def funnel_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows of `{category, requested, accepted, rejected, drafts, finding}`, with a sum beneath."""
    table = Table(title="from request to release", title_justify="left", title_style="bold")
    table.add_column("category", no_wrap=True, min_width=max((len(row["category"]) for row in rows), default=0))
    for column in ("requested", "accepted", "rejected", "drafts sent back"):
        table.add_column(column, justify="right")
    table.add_column("commonest finding")
    for row in rows:
        table.add_row(
            row["category"],
            *(str(row[c]) for c in ("requested", "accepted", "rejected", "drafts")),
            row["finding"] or "none",
        )
    table.add_section()
    sums = [str(sum(row[c] for row in rows)) for c in ("requested", "accepted", "rejected", "drafts")]
    table.add_row("all", *sums, "")
    return table
