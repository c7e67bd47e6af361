"""`prove`: families proved again from files alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from typing import Any

from rich.progress import Progress, TextColumn
from rich.table import Table
from rich.text import Text

from agentbound.data.findings import Finding
from agentbound.data.records import parse_family
from agentbound.data.store import RunView
from agentbound.errors import RecordError, UsageError
from agentbound.flows.views.console import err, out
from agentbound.sandbox.proofs import PROOFS, prove

_ALONE: int = 24
"""Up to so many families one process is quicker than several."""


def prove_command(path: Path) -> int:
    """Prove every family under a path. Prints what failed and gives 1, or the claims that hold and gives 0."""
    records = list(read_records(path))
    failed, runs = 0, 0
    with Progress(
        TextColumn("{task.description}"), *Progress.get_default_columns()[1:3], console=err(), transient=True
    ) as bar:
        task = bar.add_task("proving", total=len(records))
        for family_id, findings, count in _prove_all(records):
            bar.advance(task)
            runs += count
            failed += bool(findings)
            for finding in findings:
                out().print(Text(f"{family_id}: {finding.code} fails at {finding.where}", style="bold red"))
                out().print(Text(f"    {finding.wrong}; {finding.mend}"))
                if finding.seen not in (None, "", []):
                    out().print(Text(f"    seen: {str(finding.seen)[:400]}", style="dim"))
    if failed:
        out().print(Text(f"{failed} of {len(records)} families are not proved", style="bold red"))
        return 1
    claims = Table.grid(padding=(0, 1))
    for proof in PROOFS.values():
        claims.add_row(Text("✓", style="green"), Text(proof.code, style="bold"), proof.claim)
    out().print(claims)
    out().print(Text(f"{len(records)} families proved, {runs} runs", style="bold green"))
    return 0


def read_records(path: Path) -> Iterator[tuple[str, Any]]:
    """Family ids and decoded records of a family's JSON file, a run, or a release (its evaluation part).

    Of a release with both its parts, the public one is compared with the evaluation part first. Raises `UsageError` for a
    path that is none of them, `ReleaseError` for a release that is not whole.
    """
    if path.is_file():
        data = _decode(path)
        yield str(data.get("family_id", path.name)) if isinstance(data, dict) else path.name, data
        return
    if (path / "run.json").is_file():
        with RunView(path) as view:
            for row in view.slots():
                if row.family_id is not None:
                    yield row.family_id, view.family(row.family_id).record
        return
    evaluation = next(
        (p for p in (path, path / "evaluation", path / "release" / "evaluation") if _is_evaluation(p)), None
    )
    if evaluation is None:
        raise UsageError(f"{path} is no family file, no run and no release's evaluation part; name one of these")
    from agentbound.data.releases import read_evaluation, verify

    if evaluation != path and (evaluation.parent / "public").is_dir():
        verify(evaluation.parent / "public", evaluation)
    for family in read_evaluation(evaluation).families:
        yield family.family_id, family.model_dump(mode="json")


def _is_evaluation(path: Path) -> bool:
    return (path / "manifest.json").is_file() and path.name != "public"


def _decode(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise RecordError(f"{path} is no JSON: {error}; export a family with `agentbound export`") from None


def _prove_all(records: list[tuple[str, Any]]) -> Iterator[tuple[str, list[Finding], int]]:
    if len(records) <= _ALONE:
        yield from map(_prove_one, records)
        return
    with ProcessPoolExecutor(cpu_count(), mp_context=get_context("spawn")) as pool:
        yield from pool.map(_prove_one, records, chunksize=8)


def _prove_one(item: tuple[str, Any]) -> tuple[str, list[Finding], int]:
    family_id, data = item
    certificate, findings = prove(parse_family(data, family_id))
    return family_id, findings, certificate.runs if certificate else 0
