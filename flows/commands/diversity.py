"""`agentbound diversity`: how different the texts of a set are, beside other sets."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from agentbound.data.records import SIBLINGS, parse_family
from agentbound.data.releases import REFERENCES, read_evaluation
from agentbound.data.store import RunView
from agentbound.data.texts import Texts, read_texts
from agentbound.errors import UsageError
from agentbound.flows.views.console import err, out
from agentbound.validators.diversity import NEAR, diversity


def diversity_command(path: Path, column: str | None, group: str | None) -> None:
    """Print the measures of a file of texts, a release or a run."""
    texts = _texts(path, column, group)
    if len(texts.texts) > 2_000:
        err().print(f"{len(texts.texts)} texts, some seconds")
    found = diversity(texts.texts, texts.groups)
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("")
    for name in ("texts", "mean", "p95", f"above {NEAR}", "distinct-2", "zlib ratio"):
        table.add_column(name, justify="right")
    table.add_row(
        path.name,
        str(found.texts),
        f"{found.mean:.3f}",
        f"{found.p95:.3f}",
        f"{found.near:.1%}",
        f"{found.distinct_2:.3f}",
        f"{found.zlib_ratio:.2f}",
    )
    for name, f in REFERENCES.items():
        figures = (f"{f['mean']:.3f}", f"{f['p95']:.3f}", f"{f['near']:.1%}")
        table.add_row(name, f"{f['texts']:.0f}", *figures, f"{f['distinct_2']:.3f}", f"{f['zlib_ratio']:.2f}")
    out().print(table)
    out().print(
        "mean, p95 and above: similarity of the nearest neighbour outside the own group, TF-IDF of words and pairs"
    )


def _texts(path: Path, column: str | None, group: str | None) -> Texts:
    if path.is_file():
        return read_texts(path, column, group)
    if (path / "run.json").is_file():
        with RunView(path) as view:
            families = [parse_family(view.get(row.family)) for row in view.slots() if row.family]
    else:
        part = path / "evaluation" if (path / "evaluation").is_dir() else path
        if not part.is_dir():
            raise UsageError(f"there is nothing at {path}; name a file of texts, a run or a release")
        families = list(read_evaluation(part).families)
    if len(families) < 2:
        raise UsageError(f"{path} has {len(families)} families; two or more can be compared")
    return Texts(
        texts=tuple(f.siblings[s].instruction for f in families for s in SIBLINGS),
        groups=tuple(f.family_id for f in families for _ in SIBLINGS),
    )
