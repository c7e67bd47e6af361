"""`show`, `export`, `runs`, `status`: reading what was built."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.table import Table
from rich.text import Text

from agentbound.data.records import parse_family
from agentbound.data.store import RunView, runs, status
from agentbound.flows.views.console import out
from agentbound.flows.views.family import family_view


def show_command(run: Path, family: str | None) -> None:
    """One family in full, or the list of all."""
    with RunView(run) as view:
        if family is None:
            _list(view)
            return
        stored = view.family(family)
    record = parse_family(stored.record, stored.family_id)
    out().print(family_view(record, stored.certificate))


def _list(view: RunView) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("family")
    table.add_column("outcome")
    table.add_column("attempts", justify="right")
    table.add_column("why not", overflow="fold")
    for row in view.slots():
        style = {"accepted": "green", "rejected": "red"}.get(row.outcome, "dim")
        reason = row.reasons[0] if row.reasons else ""
        table.add_row(row.family_id or row.slot, Text(row.outcome, style=style), str(row.attempts or ""), reason)
    out().print(table)


def export_command(run: Path, family: str) -> None:
    """The record as JSON, as `prove` reads it."""
    with RunView(run) as view:
        record = view.family(family).record
    json.dump(record, sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")


def runs_command(directory: Path) -> None:
    """A line a run."""
    found = runs(directory)
    if not found:
        out().print(f"no runs in {directory}; `agentbound build --out {directory}/quick` makes one")
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("run", "made (UTC)", "requested", "accepted", "rejected", "open", "release"):
        numeric = column in ("requested", "accepted", "rejected", "open")
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for summary in found:
        total = summary.total
        note = (
            summary.fault
            or summary.release_version
            or (f"being built by process {summary.writer}" if summary.writer else "none yet")
        )
        numbers = (total.requested, total.accepted, total.rejected, total.pending)
        table.add_row(str(summary.run), f"{summary.made:%Y-%m-%d %H:%M}", *map(str, numbers), note)
    out().print(table)


def status_command(run: Path) -> None:
    """How far a run is, by category."""
    now = status(run)
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("category", "requested", "accepted", "rejected", "open"):
        table.add_column(column, justify="left" if column == "category" else "right")
    for name, tally in [*now.by_category.items(), ("all", now.total)]:
        table.add_row(name, *map(str, (tally.requested, tally.accepted, tally.rejected, tally.pending)))
    out().print(table)
    if now.findings:
        common = ", ".join(f"{code} {count}" for code, count in list(now.findings.items())[:6])
        out().print(Text(f"findings on the way: {common}"))
    for gate, held in now.gates.items():
        out().print(Text(f"gate {gate}: {'held' if held else 'did not hold'}", style="green" if held else "red"))
    if now.writer:
        out().print(f"process {now.writer} is building it")
    if now.release:
        out().print(Text(f"release {now.release_version}: {now.release}"))
    elif not all(now.gates.values()):
        out().print(
            Text("no release: mend what the gate names, or ask for fewer families, and build into another directory")
        )
    else:
        out().print(Text(f"no release yet; `agentbound build --out {run}` with the same options goes on"))
