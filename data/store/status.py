"""How far runs are, as records for somebody else to print."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentbound.data.records import Record
from agentbound.data.store.disk import reading
from agentbound.data.store.run import RUN_FILE
from agentbound.data.store.view import RunView
from agentbound.errors import StoreError, UsageError


class Tally(Record):
    """Slots by outcome; requested = accepted + rejected + pending."""

    requested: int = 0
    accepted: int = 0
    rejected: int = 0
    pending: int = 0


class Status(Record):
    """A run at one moment.

    `by_stage` has the stages in which slots were settled, `by_category` and `by_class` are in the plan's order;
    `findings` are codes with how often they were found, the commonest first; `gates` name whether each held;
    `release` is where the latest release stands, `writer` the process at work on the run.
    """

    run: Path
    options: dict[str, Any]
    total: Tally
    by_category: dict[str, Tally]
    by_class: dict[str, Tally]
    by_stage: dict[str, Tally]
    findings: dict[str, int]
    gates: dict[str, bool]
    release: Path | None
    release_version: str | None
    writer: int | None


class RunSummary(Record):
    """A run in a listing: `made` is when (UTC), `fault` the sentence why it cannot be read, if it cannot."""

    run: Path
    made: datetime
    total: Tally = Tally()
    release_version: str | None = None
    writer: int | None = None
    fault: str | None = None


def status(run: Path) -> Status:
    """Raises `UsageError` where there is no run, `RunVersionError`, `StoreCorrupt`."""
    with RunView(run) as view:
        release = next(iter(view.query("SELECT version, path FROM releases ORDER BY position DESC LIMIT 1")), None)
        return Status(
            run=run,
            options=view.plan.options,
            total=_tally(view, "'all'").get("all", Tally()),
            by_category=_tally(view, "category"),
            by_class=_tally(view, "risk_class"),
            by_stage={stage: tally for stage, tally in _tally(view, "stage").items() if stage is not None},
            findings=_findings(view),
            gates={
                row["gate"]: row["passed"] for row in view.query("SELECT gate, passed FROM gates ORDER BY position")
            },
            release=None if release is None else run / release["path"],
            release_version=None if release is None else release["version"],
            writer=view.writer,
        )


def runs(directory: Path) -> list[RunSummary]:
    """The runs in `directory`, the newest last. A run that cannot be read is listed with its fault."""
    if not directory.is_dir():
        raise UsageError(f"{directory} is no directory; name the one that holds your runs")
    with reading(directory):
        found = [(path.stat().st_mtime, path.parent) for path in directory.glob(f"*/{RUN_FILE}")]
    return [_summary(run, made) for made, run in sorted(found)]


def _summary(run: Path, seconds: float) -> RunSummary:
    made = datetime.fromtimestamp(seconds, tz=UTC)
    try:
        known = status(run)
    except StoreError as error:
        return RunSummary(run=run, made=made, fault=str(error))
    return RunSummary(run=run, made=made, total=known.total, release_version=known.release_version, writer=known.writer)


def _tally(view: RunView, by: str) -> dict[Any, Tally]:
    rows = view.query(
        f"SELECT {by} AS name, count(*) AS requested, count(*) FILTER (outcome = 'accepted') AS accepted,"
        " count(*) FILTER (outcome = 'rejected') AS rejected, count(*) FILTER (outcome IS NULL) AS pending"
        " FROM slots s LEFT JOIN outcomes o ON o.slot = s.slot GROUP BY ALL ORDER BY min(position)"
    )
    return {row.pop("name"): Tally(**row) for row in rows}


def _findings(view: RunView) -> dict[str, int]:
    rows = view.query(
        "SELECT code, CAST(sum(count) AS BIGINT) AS count FROM findings GROUP BY code ORDER BY count DESC, code"
    )
    return {row["code"]: row["count"] for row in rows}
