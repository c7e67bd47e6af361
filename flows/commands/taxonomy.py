"""`agentbound taxonomy`: looking at content and checking it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from agentbound.data.blueprint import Blueprint, load_blueprint, load_blueprints
from agentbound.data.chance import rng_of
from agentbound.errors import ContentError, Fault, UsageError
from agentbound.flows.content import Report, check_blueprint, draw_family
from agentbound.flows.gaps import class_gaps
from agentbound.flows.views.console import err, out
from agentbound.flows.views.family import family_view
from agentbound.generators.embedded.scaffold import draw_scaffold
from agentbound.taxonomy import Taxonomy, load_taxonomy
from agentbound.validators.candidate import certify

_SHOWN = 12


def list_command(directories: Sequence[Path]) -> None:
    """Categories, classes and the blueprints of each."""
    taxonomy = load_taxonomy(*directories)
    blueprints = load_blueprints(*directories, taxonomy=taxonomy)
    by_class = Counter((b.category, b.risk_class) for b in blueprints)
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("category")
    table.add_column("risk class", no_wrap=True)
    table.add_column("blueprints", justify="right")
    table.add_column("what is forbidden in it", overflow="fold")
    for category in taxonomy.categories:
        for number, leaf in enumerate(category.classes):
            table.add_row(category.id if number == 0 else "", leaf.id, str(by_class[category.id, leaf.id]), leaf.title)
    out().print(table)
    leaves = sum(len(c.classes) for c in taxonomy.categories)
    out().print(f"{len(taxonomy.categories)} categories, {leaves} classes, {len(blueprints)} blueprints")


def check_command(paths: Sequence[Path], samples: int, directories: Sequence[Path]) -> int:
    """Check blueprints and print what has to be mended. Gives 1 where something has."""
    own = [p for p in paths if _is_taxonomy(p)]
    paths = [p / "blueprints" if p in own else p for p in paths]
    directories = [*directories, *own]
    taxonomy = load_taxonomy(*directories)
    blueprints, bad = _load(paths, directories, taxonomy)
    for fault in (f for faults in bad for f in faults):
        out().print(Text(str(fault), style="red"))
    reports = []
    for blueprint in blueprints:
        began = time.monotonic()
        report = check_blueprint(blueprint, samples)
        reports.append(report)
        _print(report, time.monotonic() - began)
    for gap in class_gaps(blueprints) if own or not paths else ():
        out().print(Text(f"for the gates: {gap}", style="yellow"))
    clean, files = sum(r.clean for r in reports), len(reports) + len(bad)
    out().print(f"{clean} of {files} blueprint{'s' * (files != 1)} clean")
    return 0 if clean == files else 1


def sample_command(path: Path, seed: int, flip: str | None, directories: Sequence[Path] = ()) -> None:
    """Draw one family and print it, proved or with its findings."""
    blueprint = load_blueprint(path, taxonomy=load_taxonomy(*directories))
    drawn = draw_scaffold(blueprint, rng_of(b"sample", blueprint.name, seed), f"sample-{seed}", forbidden=flip)
    family = draw_family(blueprint, drawn, lambda name: rng_of(b"sample", seed, name))
    certificate, findings = certify(family)
    out().print(family_view(family, certificate.model_dump() if certificate else None))
    for finding in findings:
        out().print(Text(str(finding), style="red"))


def _is_taxonomy(path: Path) -> bool:
    """Whether a path is a directory of a user's own taxonomy, and not just one of blueprints."""
    return (path / "blueprints").is_dir()


def _load(
    paths: Sequence[Path], directories: Sequence[Path], taxonomy: Taxonomy
) -> tuple[list[Blueprint], list[list[Fault]]]:
    """The blueprints that load, and the faults of each file that does not."""
    if not paths:
        return load_blueprints(*directories, taxonomy=taxonomy), []
    files = [f for p in paths for f in (sorted(p.rglob("*.yaml")) if p.is_dir() else [p])]
    missing = [str(f) for f in files if not f.is_file()]
    if missing or not files:
        raise UsageError(f"{', '.join(missing) or paths[0]}: no blueprint file there; name a YAML file or a directory")
    found, bad = [], []
    for file in files:
        try:
            found.append(load_blueprint(file, taxonomy=taxonomy))
        except ContentError as error:
            bad.append(error.faults)
    return found, bad


def _print(report: Report, seconds: float) -> None:
    mark = "✓" if report.clean else "✗"
    runs = sorted(report.runs)
    middle = runs[len(runs) // 2] if runs else 0
    line = (
        f"{mark} {report.blueprint}: {report.proved} of {report.samples} samples proved ({middle} runs each), "
        f"{'/'.join(sorted(report.protocols))}, flips {', '.join(f'{k} {v}' for k, v in report.flips.items())}, "
        f"wordings {', '.join(f'{k} {v}' for k, v in report.wordings.items())}, {seconds:.1f} s"
    )
    out().print(Text(line, style="green" if report.clean else "bold red"))
    for fault in report.faults[:_SHOWN]:
        out().print(Text(f"  {fault}", style="red"))
    worst = sorted(report.problems.values(), key=lambda p: -p[1])
    for finding, count in worst[:_SHOWN]:
        out().print(Text(f"  {count} x {finding.code} [{finding.part}] {finding.where}", style="yellow"))
        out().print(Text(f"      {finding.wrong}; {finding.mend}"))
        if finding.seen not in (None, "", []):
            out().print(Text(f"      seen: {str(finding.seen)[:300]}", style="dim"))
    if len(worst) > _SHOWN:
        err().print(f"  … and {len(worst) - _SHOWN} more")
    for gap in report.gaps:
        out().print(Text(f"  for the gates: {gap}", style="yellow"))
