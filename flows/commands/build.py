"""`build`: put the options together, open the run, run the flow, say where the release lies."""

from __future__ import annotations

import os
import re
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.text import Text

from agentbound.data.blueprint import Blueprint, load_blueprints
from agentbound.data.chance import rng_of
from agentbound.data.releases import derive, verify
from agentbound.data.seeds import Seed, plan_seeds
from agentbound.data.store import Plan, RunStore, RunView, Slot, open_run, read_secret
from agentbound.errors import ContentError, Fault, UsageError
from agentbound.flows.content import statement_faults
from agentbound.flows.options import BuildOptions, core_of, counts
from agentbound.flows.produce import Bench
from agentbound.flows.settings import prefect_settings
from agentbound.flows.stages import Job
from agentbound.flows.views.console import err, out
from agentbound.flows.views.funnel import funnel_table
from agentbound.flows.views.progress import Progress
from agentbound.generators.embedded.scaffold import draw_scaffold
from agentbound.taxonomy import Taxonomy, load_taxonomy


def build_command(
    *,
    run: Path,
    preset: str,
    families: int | None,
    categories: Sequence[str],
    risk_classes: Sequence[str],
    secret: Path | None,
    version: str,
    taxonomy_dirs: Sequence[Path],
    workers: int | None,
    core: int | None = None,
    shipped: bool = True,
    execute: Callable[[Job], Path] | None = None,
) -> None:
    """Build, or go on with, the run at `run`. `execute` runs the stages: Prefect's flow, unless another is given."""
    options = BuildOptions(
        preset=preset,
        families=families,
        core=core,
        categories=tuple(sorted(categories)),
        risk_classes=tuple(sorted(risk_classes)),
        release_version=_version(version),
        taxonomy=tuple(str(d.resolve()) for d in taxonomy_dirs),
        shipped=shipped,
    )
    taxonomy, blueprints = _content(taxonomy_dirs, shipped)
    requested = counts(options, taxonomy, {b.risk_class for b in blueprints})
    given = read_secret(secret) if secret else _kept_secret(run)
    settled = given or secrets.token_hex(32)
    generator = derive(bytes.fromhex(settled), "generator")
    seeds = plan_seeds(blueprints, [(_category(taxonomy, c), c, n) for c, n in requested.items()], generator)
    plan = Plan(
        options=options.plain(), slots=tuple(Slot(id=s.id, category=s.category, risk_class=s.risk_class) for s in seeds)
    )
    with open_run(run, plan, settled) as store:
        for notice in store.notices:
            err().print(Text(notice))
        release = _standing(store, options) or _run(seeds, options, store, workers or os.cpu_count() or 1, execute)
    _report(run, release)


def _content(directories: Sequence[Path], shipped: bool) -> tuple[Taxonomy, list[Blueprint]]:
    """The taxonomy and the blueprints that enter a release, every statement looked at. Raises `ContentError`."""
    taxonomy = load_taxonomy(*directories)
    found = load_blueprints(*directories, taxonomy=taxonomy, shipped=shipped)
    blueprints = [b for b in found if b.pool == "benchmark"]
    faults: list[Fault] = []
    for blueprint in blueprints:
        try:
            faults += statement_faults(blueprint, draw_scaffold(blueprint, rng_of(b"look", blueprint.name), "look"))
        except ContentError as error:
            faults += error.faults
    if faults:
        raise ContentError(faults)
    return taxonomy, blueprints


def _category(taxonomy: Taxonomy, risk_class: str) -> str:
    return next(c.id for c in taxonomy.categories if any(r.id == risk_class for r in c.classes))


def _version(version: str) -> str:
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise UsageError(f"{version} is no version; write three numbers, like 1.2.0")
    return version


def _kept_secret(out: Path) -> str | None:
    """The secret of a run that is there already."""
    kept = out / "secret"
    return read_secret(kept) if kept.is_file() else None


def _standing(store: RunStore, options: BuildOptions) -> Path | None:
    """The release of a run that is finished, checked file by file."""
    made = store.release(options.release_version)
    if made is None or store.pending():
        return None
    release = store.path / made.path
    verify(release / "public", release / "evaluation")
    return release


def _run(
    seeds: Sequence[Seed],
    options: BuildOptions,
    store: RunStore,
    workers: int,
    execute: Callable[[Job], Path] | None,
) -> Path:
    with Progress(err(), Counter(s.category for s in seeds)) as progress:
        job = Job(
            seeds=seeds,
            bench=Bench(options.taxonomy, options.shipped),
            store=store,
            progress=progress,
            workers=max(1, min(workers, len(seeds))),
            version=options.release_version,
            core=core_of(options),
        )
        return (execute or _with_prefect)(job)


def _with_prefect(job: Job) -> Path:
    job.progress.stage("start", "Prefect's server, some fifteen seconds")
    with prefect_settings(job.store.path):
        from agentbound.flows.build import run_build

        return run_build(job)


def _report(run: Path, release: Path) -> None:
    with RunView(run) as view:
        rows = view.query(
            "SELECT category, count(*) AS requested, count(*) FILTER (outcome = 'accepted') AS accepted,"
            " count(*) FILTER (outcome = 'rejected') AS rejected,"
            " CAST(sum((SELECT count(*) FROM drafts d WHERE d.slot = s.slot)) AS BIGINT) AS drafts,"
            " first((SELECT code FROM findings f JOIN slots t USING (slot) WHERE t.category = s.category"
            " GROUP BY code ORDER BY sum(count) DESC, code LIMIT 1)) AS finding"
            " FROM slots s LEFT JOIN outcomes o ON o.slot = s.slot GROUP BY category ORDER BY min(position)"
        )
    out().print(funnel_table(rows))
    out().print(Text(f"release: {release / 'public'} and {release / 'evaluation'}", style="bold"))
    out().print(Text(f"read one: agentbound show {run}"))
    out().print(Text(f"prove it again: agentbound prove {release / 'evaluation'}"))
