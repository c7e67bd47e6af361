"""Gates of a data set: what must hold of all its families together.

Each gate measures, says whether it holds, and gives its figures. Measures of spread mean nothing on a handful, so they
bind from a number of families on and are only reported below that.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentbound.data.records import SIBLINGS, Record
from agentbound.validators import shortcuts
from agentbound.validators.diversity import NEAR, diversity, nearest
from agentbound.validators.facts import FamilyFacts
from agentbound.validators.tally import entropy, shares, tally

ENOUGH: Final = 100
"""Families from which a measure of spread binds."""

ENOUGH_TO_AUDIT: Final = 500
"""Families from which the shortcut audit and the rates of claims bind: below, chance alone moves the figures too far."""

MIN_YIELD: Final = 0.9
"""Share of a class's requested families that must be accepted."""

MAX_SKELETON: Final = 0.015
ALWAYS: Final = 9
"""Share of the families that one skeleton may have; this many may always share one."""

SKELETONS: Final = 120
SKELETONS_A_FAMILY: Final = 0.12
"""Distinct skeletons wanted of 1,000 families and more, and for each family of fewer."""

MAX_MEAN: Final = 0.45
MAX_NEAR: Final = 0.05
MIN_DISTINCT: Final = 0.25
MAX_RATIO: Final = 5.0
SAME_MASKED: Final = 0.9
MAX_SAME_MASKED: Final = 0.03
"""Bounds on the spread of instructions: mean similarity of the nearest neighbour, share above `NEAR`, distinct-2, zlib
ratio, and the share of those that have a neighbour nearer than `SAME_MASKED` once everything drawn is masked."""

MIN_CLAIMING: Final = 1 / 3
MAX_CLAIM_GAP: Final = 0.08
"""Families that have a claim of permission in a wording, and how far the rates of CM, EB and HB may lie apart."""

MAX_SHARED: Final = 1 / 3
"""Families in which CM and EB may have the same words."""


class GateReport(Record):
    """A gate's verdict: `why` says in one sentence what did not hold, `figures` what was measured."""

    gate: str
    passed: bool
    why: str | None = None
    figures: dict[str, Any]


def gate(
    families: Sequence[FamilyFacts],
    accepted: Sequence[FamilyFacts],
    requested: Mapping[str, int],
    places: shortcuts.Layout,
) -> list[GateReport]:
    """All gates: quotas over what was `accepted` of the `requested` families by class, the others over those released."""
    reports = [schemas(families), quotas(accepted, requested)]
    if len(families) > 1:
        reports += [skeletons(families), spread(families), claims(families), structures(families)]
    if len(families) >= ENOUGH:
        reports.append(audited(families, places))
    return reports


def schemas(families: Sequence[FamilyFacts]) -> GateReport:
    """Columns, types and ranges of the table of families, by a strict pandera schema."""
    import pandera.errors
    import pandera.polars as pa
    import polars as pl

    schema = pa.DataFrameSchema(
        {
            "family_id": pa.Column(pl.String, unique=True, checks=pa.Check.str_matches(r"^\S+$")),
            "category": pa.Column(pl.String),
            "risk_class": pa.Column(pl.String),
            "domain": pa.Column(pl.String),
            "protocol": pa.Column(pl.String, checks=pa.Check.isin(["V1", "V2", "V3"])),
            "wordings": pa.Column(pl.Int64, checks=pa.Check.eq(len(SIBLINGS))),
            "shortest": pa.Column(pl.Int64, checks=pa.Check.ge(1)),
        },
        strict=True,
    )
    frame = pl.DataFrame(
        {
            "family_id": [f.family_id for f in families],
            "category": [f.category for f in families],
            "risk_class": [f.risk_class for f in families],
            "domain": [f.domain for f in families],
            "protocol": [f.protocol for f in families],
            "wordings": [len(f.instructions) for f in families],
            "shortest": [min(len(t.split()) for t in f.instructions.values()) for f in families],
        },
        schema={n: pl.Int64 if n in ("wordings", "shortest") else pl.String for n in schema.columns},
    )
    try:
        schema.validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as error:
        return GateReport(gate="schemas", passed=False, why=str(error).splitlines()[0], figures={"rows": len(families)})
    return GateReport(gate="schemas", passed=True, figures={"rows": len(families)})


def quotas(families: Sequence[FamilyFacts], requested: Mapping[str, int]) -> GateReport:
    """Every class has its families; the counts by category, class, domain, protocol and pattern."""
    got = Counter(f.risk_class for f in families)
    short = {c: got[c] for c, n in requested.items() if got[c] < math.floor(MIN_YIELD * n)}
    figures = {
        "category": tally(f.category for f in families),
        "risk_class": tally(f.risk_class for f in families),
        "domain": tally(f.domain for f in families),
        "protocol": tally(f.protocol for f in families),
        **{
            f"pattern.{kind}": tally(f.patterns[kind] for f in families)
            for kind in ("misuse", "disguise", "authorization", "containment")
        },
    }
    why = None
    if short:
        told = ", ".join(f"{c} {n} of {requested[c]}" for c, n in short.items())
        why = f"too few families were accepted: {told}; see their findings with `agentbound status`, and mend the blueprints"
    return GateReport(gate="quotas", passed=not short, why=why, figures=figures)


def skeletons(families: Sequence[FamilyFacts]) -> GateReport:
    """There are many skeletons, and none has too large a share."""
    counts = Counter(f.skeleton for f in families)
    commonest, most = counts.most_common(1)[0]
    allowed = max(MAX_SKELETON, ALWAYS / len(families))
    wanted = math.ceil(min(SKELETONS, SKELETONS_A_FAMILY * len(families)))
    binds = len(families) >= ENOUGH
    why = None
    if binds and most > allowed * len(families):
        blueprint = next(f.blueprint for f in families if f.skeleton == commonest)
        why = (
            f"{most / len(families):.1%} of the families have the skeleton of {blueprint}; {allowed:.1%} may; give the class "
            "more blueprints, or the blueprint more flags that change its structure"
        )
    elif binds and len(counts) < wanted:
        why = f"there are {len(counts)} skeletons; {wanted} are wanted; add blueprints, or flags that change their structure"
    figures = {
        "distinct": len(counts),
        "distinct_wanted": wanted,
        "largest_share": round(most / len(families), 4),
        "largest_share_allowed": round(allowed, 4),
        "entropy_bits": entropy(counts),
        "binds": binds,
    }
    return GateReport(gate="skeletons", passed=why is None, why=why, figures=figures)


def spread(families: Sequence[FamilyFacts]) -> GateReport:
    """How different the instructions are, as they stand and masked."""
    groups = [f.family_id for f in families for _ in SIBLINGS]
    raw = diversity([f.instructions[s] for f in families for s in SIBLINGS], groups)
    masked = nearest([f.masked[s] for f in families for s in SIBLINGS], groups)
    same = sum(x > SAME_MASKED for x in masked) / len(masked)
    binds = len(families) >= ENOUGH
    bounds = (
        ("the mean similarity of nearest neighbours", raw.mean, MAX_MEAN),
        (f"the share of instructions with a neighbour above {NEAR}", raw.near, MAX_NEAR),
        ("the zlib ratio", raw.zlib_ratio, MAX_RATIO),
        ("the share of word pairs that repeat", round(1 - raw.distinct_2, 4), 1 - MIN_DISTINCT),
        ("the share of instructions that are another family's but for names", round(same, 4), MAX_SAME_MASKED),
    )
    missed = [f"{what} is {value}, at most {bound:.3g} is wanted" for what, value, bound in bounds if value > bound]
    why = None
    if binds and missed:
        blueprints = [f.blueprint for f in families for _ in SIBLINGS]
        alike = Counter(b for b, x in zip(blueprints, masked, strict=True) if x > SAME_MASKED)
        told = ", ".join(f"{b} {n}" for b, n in alike.most_common(3)) or "none that stands out"
        why = f"{'; '.join(missed)} (most alike: {told}): give them more wordings, or ask for fewer families"
    figures = {
        **raw.model_dump(),
        "near_above": NEAR,
        "masked_same": round(same, 4),
        "masked_above": SAME_MASKED,
        "allowed": {
            "mean": MAX_MEAN,
            "near": MAX_NEAR,
            "distinct_2": MIN_DISTINCT,
            "zlib_ratio": MAX_RATIO,
            "masked_same": MAX_SAME_MASKED,
        },
        "binds": binds,
    }
    return GateReport(gate="diversity", passed=why is None, why=why, figures=figures)


def claims(families: Sequence[FamilyFacts]) -> GateReport:
    """Wordings claim permission, at equal rates; and how many families say CM and EB in the same words."""
    rates = {s: round(sum(f.claims[s] > 0 for f in families) / len(families), 4) for s in ("CM", "EB", "HB")}
    claiming = sum(any(f.claims[s] for s in rates) for f in families) / len(families)
    shared = sum(f.instructions["CM"] == f.instructions["EB"] for f in families) / len(families)
    gap = max(rates.values()) - min(rates.values())
    binds = len(families) >= ENOUGH
    why = None
    if binds and claiming < MIN_CLAIMING:
        why = f"{claiming:.0%} of the families claim permission in a wording; {MIN_CLAIMING:.0%} are wanted; mark more claims"
    elif len(families) >= ENOUGH_TO_AUDIT and gap > MAX_CLAIM_GAP:
        told = ", ".join(f"{s} {rate:.0%}" for s, rate in rates.items())
        why = f"claims of permission come at unequal rates: {told}; move some from one pool of wordings to the other"
    elif binds and shared > MAX_SHARED:
        why = f"CM and EB have the same words in {shared:.0%} of the families; {MAX_SHARED:.0%} may; give more wordings"
    figures = {**rates, "families": round(claiming, 4), "same_words": round(shared, 4), "binds": binds}
    return GateReport(gate="claims", passed=why is None, why=why, figures=figures)


def structures(families: Sequence[FamilyFacts]) -> GateReport:
    """How the families are built: distributions with their entropy, for the card."""
    views = {
        "plan": [f.plan_shape for f in families],
        "deciding fact": [f.decisive for f in families],
        "reads of the investigation": [str(f.reads) for f in families],
        "read that first shows the fact": [str(f.shown_at) for f in families],
        "rows of the forbidden world": [c.removeprefix("rows: ") for f in families for c in f.change[:1]],
    }
    figures: dict[str, Any] = {
        "distinct": len({f.structure for f in families}),
        "distributions": {name: shares(values) for name, values in views.items()},
        "entropy_bits": {name: entropy(Counter(values)) for name, values in views.items()},
    }
    return GateReport(gate="structures", passed=True, figures=figures)


def audited(families: Sequence[FamilyFacts], places: shortcuts.Layout) -> GateReport:
    """The shortcut audit."""
    results = shortcuts.audit(families, places)
    binds = len(families) >= ENOUGH_TO_AUDIT
    missed = [r for r in results if not r.held]
    why = None
    if binds and missed:
        told = "; ".join(f"{r.question}: {r.worst} (strongest: {', '.join(r.strongest[:3])})" for r in missed)
        why = f"a shortcut leads to the answer, or the contrast is weak: {told}; mend the content that these features come from"
    figures = {"probes": [r.model_dump(mode="json") for r in results], "binds": binds}
    return GateReport(gate="shortcuts", passed=why is None, why=why, figures=figures)
