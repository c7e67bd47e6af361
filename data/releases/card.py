"""The data cards. Every number in them is computed from the release's own rows or from the run's facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pydantic import Field

from agentbound.data.records import Record
from agentbound.data.releases import card_pages as pages

REPORT_TO: Final = "the issue tracker of the project, marked *content*; do not quote the item in public"
LICENSE: Final = "apache-2.0"


class RunFacts(Record):
    """What the run says of how the release came about: funnel counts, findings by code, gates with their figures."""

    requested: int
    accepted: int
    rejected: int
    drafts: int
    findings: dict[str, int] = Field(default_factory=dict)
    gates: dict[str, dict[str, Any]] = Field(default_factory=dict)
    generator: str = "the embedded generator, from blueprints; no language model"


def public_card(rows: Sequence[Mapping[str, Any]], version: str, guid: str, facts: RunFacts) -> str:
    """README.md of the public part: what an agent and its harness may see, and nothing that tells siblings apart."""
    words = sorted(len(r["instruction"].split()) for r in rows)
    middle = words[len(words) // 2] if words else 0
    body = f"""
# agentbound {version}: public part

Tasks for agents with tools, on simulated records. Some of what is asked is permitted and some is not, and how a task
sounds says little about which. An agent should finish the first kind and leave the second.

{len(rows)} tasks; an instruction has {words[0] if words else 0} to {words[-1] if words else 0} words, {middle} in the middle.

| config | columns |
|---|---|
| `tasks` (default) | `task_id`, `environment`, `instruction`, `tools` (JSON), `canary` |
| `worlds` | `task_id`, `world` (JSON: clock, schema, rows, transitions), `caller`, `canary` |

```python
from datasets import load_dataset
tasks = load_dataset("<this data set>", "tasks", split="eval")
```

## What it is for, and what not
It measures whether an agent with tools tells permitted from forbidden by looking. It is not for training (each row and
file carries the canary `{guid}`), it holds no know-how, and a good score says nothing about readiness for real systems.

## How it was made
{facts.accepted} families of tasks were accepted of {facts.requested} asked for, {facts.rejected} were rejected; {facts.drafts} drafts
were sent back with findings on the way. Every label was proved by running it: the proofs and all labels are in the evaluation
part, to which the manifest here carries a salted commitment.

{pages.diversity_page(facts.gates)}
{pages.audit_page(facts.gates, features=False)}
## Limits, said plainly
- Tasks share tools and environments, so a reader can group them.
- Whoever holds `worlds` and thinks can work out much of the answer. The shipped blueprints are open. The seal keeps labels
  out of training sets and out of an agent's reach; a benchmark that must stay secret needs a private taxonomy.
- Whether a rule's text says what its check does no proof can tell; read some tasks.

{_closing(version)}"""
    return _front(
        "agentbound, public part",
        [("tasks", "data/tasks.parquet", True), ("worlds", "data/worlds.parquet", False)],
        len(rows),
        body,
    )


def evaluation_card(
    tasks: Sequence[Mapping[str, Any]], claims: Mapping[str, str], version: str, guid: str, facts: RunFacts
) -> str:
    """README.md of the evaluation part: composition, funnel, gates, proofs."""
    certificates = {r["family_id"]: r["certificate_runs"] for r in tasks}
    tables = "\n\n".join(
        _table(title, Counter(str(r[column]) for r in tasks))
        for title, column in (
            ("sibling", "sibling"),
            ("category", "category"),
            ("risk class", "risk_class"),
            ("domain", "domain"),
            ("protocol", "protocol"),
        )
    )
    proofs = "\n".join(f"| {code} | {claim} |" for code, claim in claims.items())
    findings = "\n".join(f"| {code} | {count} |" for code, count in facts.findings.items()) or "| none | 0 |"
    gates = "\n".join(f"| {name} | {_verdict(g)} | {_figures(g)} |" for name, g in facts.gates.items())
    body = f"""
# agentbound {version}: evaluation part

Keep this part away from agents and training sets: it holds every label. Canary `{guid}`.

{len(tasks)} tasks of {len(certificates)} families, proved by {sum(certificates.values())} runs. Made by {facts.generator}.

## Composition (tasks)
{tables}

Protocols: V0 no action that matters (the right end of a forbidden task), V1 one, V2 a chain with one valid order, V3 two
valid orders or more.

## From request to release
| requested | accepted | rejected | drafts sent back |
|---|---|---|---|
| {facts.requested} | {facts.accepted} | {facts.rejected} | {facts.drafts} |

| finding on the way | times |
|---|---|
{findings}

{pages.selection_page(facts.gates)}
{pages.diversity_page(facts.gates)}
{pages.structure_page(facts.gates)}
{pages.audit_page(facts.gates, features=True)}
## Gates of the data set
| gate | | figures |
|---|---|---|
{gates}

## Proofs
Each holds of every family; `agentbound prove` shows it again from these files.

| code | claim |
|---|---|
{proofs}

{_closing(version)}"""
    return _front(
        "agentbound, evaluation part",
        [("tasks", "data/tasks.parquet", True), ("families", "data/families.parquet", False)],
        len(tasks),
        body,
    )


def _closing(version: str) -> str:
    return f"""## Reporting
An item that is unsafe or sensitive: {REPORT_TO}.

## Licence, citation, changes
Apache-2.0. `CITATION.cff` says how to cite it and `CHANGELOG.md` what changed; say the version, {version}, with every figure.
"""


def _front(name: str, configs: Iterable[tuple[str, str, bool]], rows: int, body: str) -> str:
    from huggingface_hub import DatasetCard, DatasetCardData

    data = DatasetCardData(
        language="en",
        license=LICENSE,
        pretty_name=name,
        size_categories=_size(rows),
        tags=["agents", "tool-use", "safety", "over-refusal"],
        configs=[
            {
                "config_name": config,
                "data_files": [{"split": "eval", "path": path}],
                **({"default": True} if default else {}),
            }
            for config, path, default in configs
        ],
    )
    return str(DatasetCard(f"---\n{data.to_yaml()}\n---\n{body}"))


def _size(rows: int) -> str:
    for below, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if rows < below:
            return name
    return "100K<n<1M"


def _table(title: str, counts: Counter[str]) -> str:
    return f"| {title} | tasks |\n|---|---|\n" + "\n".join(f"| {k} | {n} |" for k, n in sorted(counts.items()))


def _verdict(report: Mapping[str, Any]) -> str:
    if not report["passed"]:
        return "did not hold"
    return "held" if report.get("figures", {}).get("binds", True) else "measured; too few families for it to bind"


def _figures(report: Mapping[str, Any]) -> str:
    plain = {k: v for k, v in report.get("figures", {}).items() if k != "binds" and not isinstance(v, dict | list)}
    return ", ".join(f"{k} {v}" for k, v in plain.items()) or "see above"
