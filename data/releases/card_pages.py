"""Pages of the data cards: how the core was chosen, how different its instructions are, how its families are built, and
what the shortcut audit found. All figures come from the gates; a page whose gate did not run is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Gates = Mapping[str, Mapping[str, Any]]

REFERENCES: Final = {
    "AgentDojo, user tasks": {
        "texts": 97,
        "mean": 0.433,
        "p95": 0.832,
        "near": 0.14,
        "distinct_2": 0.507,
        "zlib_ratio": 3.42,
    },
    "ToolEmu, cases": {
        "texts": 145,
        "mean": 0.155,
        "p95": 0.316,
        "near": 0.014,
        "distinct_2": 0.756,
        "zlib_ratio": 2.40,
    },
}
"""The same measures on the hand-written instructions of other data sets. Both are far smaller, and every one of these
figures grows worse with size."""


def selection_page(gates: Gates) -> str:
    """How the core was chosen."""
    figures = _figures(gates, "selection")
    if not figures or figures["released"] == figures["accepted"]:
        return ""
    return f"""## How the core was chosen
{figures["released"]} of {figures["accepted"]} proved families. Every class keeps its share; domains, protocols, patterns, blueprints and
the direction of the flip (rows more, fewer, as many) are held near theirs; no skeleton goes beyond its cap. Among those
there is room for, the next is always the family whose four instructions are least like the ones chosen before, as they
stand and masked, and of equals the one with the sharper boundary: few cells part the worlds, and the investigation shows
them late. No chance is in it. Sharpness is {figures["sharpness"]} on the average, {figures["sharpness_of_accepted"]} among all accepted.
The others stay in the run, unpublished.
"""


def diversity_page(gates: Gates) -> str:
    """The spread of instructions beside that of other data sets."""
    figures = _figures(gates, "diversity")
    if not figures:
        return ""
    rows = [("this release", figures), *REFERENCES.items()]
    body = "\n".join(
        f"| {name} | {f['texts']} | {f['mean']:.3f} | {f['near']:.1%} | {f['distinct_2']:.3f} | {f['zlib_ratio']:.2f} |"
        for name, f in rows
    )
    return f"""## How different the instructions are
TF-IDF over words and word pairs, nearest neighbour outside the own family.

| | texts | nearest neighbour, mean | above {figures["near_above"]} | distinct-2 | zlib ratio |
|---|---|---|---|---|---|
{body}

With ids, names, numbers and dates masked, {figures["masked_same"]:.1%} of the instructions have a neighbour above {figures["masked_above"]}.
"""


def structure_page(gates: Gates) -> str:
    """Skeletons, and the distributions of how families are built."""
    figures, bones = _figures(gates, "structures"), _figures(gates, "skeletons")
    if not figures or not bones:
        return ""
    tables = "\n\n".join(
        f"| {name} (entropy {figures['entropy_bits'][name]} bits) | share |\n|---|---|\n"
        + "\n".join(f"| {value} | {share:.1%} |" for value, share in shares.items())
        for name, shares in figures["distributions"].items()
    )
    return f"""## How the families are built
{bones["distinct"]} skeletons (schema, transitions, grants and plan with identifiers and literals erased), entropy {bones["entropy_bits"]} bits; the
commonest has {bones["largest_share"]:.1%}. With row counts, flip and reads beside them, {figures["distinct"]} structures.

{tables}
"""


def audit_page(gates: Gates, *, features: bool) -> str:
    """The shortcut audit; `features` names the strongest ones, which belongs into the evaluation part alone."""
    figures = _figures(gates, "shortcuts")
    if not figures:
        return ""
    told = {"near": "0.50 ± {:.2f}", "below": "at most {:.2f}", "above": "at least {:.2f}", "told": ""}
    lines = [
        f"| {p['question']} | {p['worst']:.3f} | {told[p['rule']].format(p['bound'])} | "
        + " | ".join(f"{auc:.3f}" for auc in p["auc"].values())
        + " |"
        for p in figures["probes"]
    ]
    splits = list(figures["probes"][0]["auc"])
    strongest = "".join(f"- {p['question']}: {', '.join(p['strongest'])}\n" for p in figures["probes"])
    return f"""## What gives the answer away
Classifiers, cross-validated by family and by blueprint, at telling tasks apart by anything but the facts that decide; area
under the ROC curve, chance is 0.50. The second column is the worst of the four.

| question | AUC | wanted | {" | ".join(splits)} |
|---|---|---|{"---|" * len(splits)}
{chr(10).join(lines)}

An agent that refuses where intent is stated, and nowhere else, is right on HS and HB and does every CM: it scores full
marks for utility on HB and none for safety on CM. That is why CM and HB make the headline.
{f"{chr(10)}Strongest features of a linear model, with what they speak for:{chr(10)}{chr(10)}{strongest}" if features else ""}"""


def _figures(gates: Gates, name: str) -> Mapping[str, Any]:
    figures: Mapping[str, Any] = gates.get(name, {}).get("figures", {})
    return figures
