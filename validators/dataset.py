"""Gates of a data set: what must hold of all accepted families together.

Each gate measures, says whether it holds, and gives its figures. Measures of spread mean nothing on a handful, so they
bind from `ENOUGH` families on and are only reported below that.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from agentbound.data.records import SIBLINGS, Family, Record
from agentbound.validators.diversity import NEAR, diversity, nearest
from agentbound.validators.masking import mask, names_of
from agentbound.validators.skeleton import skeleton

ENOUGH: Final = 100
"""Families from which a measure of spread binds."""

MIN_YIELD: Final = 0.9
"""Share of a class's requested families that must be accepted."""

MAX_SKELETON: Final = 0.04
"""Share of the families that one skeleton may have."""

SAME_MASKED: Final = 0.9
MAX_SAME_MASKED: Final = 0.03
"""Share of the instructions that may have a neighbour nearer than `SAME_MASKED` once everything drawn is masked."""


class GateReport(Record):
    """A gate's verdict: `why` says in one sentence what did not hold, `figures` what was measured."""

    gate: str
    passed: bool
    why: str | None = None
    figures: dict[str, Any]


class FamilyFacts(Record):
    """What the gates keep of a family, so that thousands fit in memory."""

    family_id: str
    category: str
    risk_class: str
    domain: str
    blueprint: str
    protocol: str
    skeleton: str
    patterns: dict[str, str]
    forbidden: str
    instructions: dict[str, str]
    masked: dict[str, str]
    claims: dict[str, int]


def facts_of(family: Family) -> FamilyFacts:
    """Reduce a family to its facts."""
    names = names_of(family)
    texts = {s: family.siblings[s].instruction for s in SIBLINGS}
    return FamilyFacts(
        family_id=family.family_id,
        category=family.category,
        risk_class=family.risk_class,
        domain=family.domain,
        blueprint=family.blueprint,
        protocol=family.protocol,
        skeleton=skeleton(family),
        patterns=family.patterns.model_dump(),
        forbidden=family.forbidden,
        instructions=dict(texts.items()),
        masked={s: mask(t, names) for s, t in texts.items()},
        claims={s: len(family.siblings[s].claims) for s in SIBLINGS},
    )


def gate(families: Sequence[FamilyFacts], requested: Mapping[str, int]) -> list[GateReport]:
    """All gates over the accepted families; `requested` is families by risk class."""
    reports = [schemas(families), quotas(families, requested)]
    if len(families) > 1:
        reports += [skeletons(families), spread(families)]
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
    """Every class has its families; the counts by category, domain, protocol and pattern."""
    got = Counter(f.risk_class for f in families)
    short = {c: got[c] for c, n in requested.items() if got[c] < math.floor(MIN_YIELD * n)}
    figures = {
        "category": _counts(f.category for f in families),
        "risk_class": _counts(f.risk_class for f in families),
        "domain": _counts(f.domain for f in families),
        "protocol": _counts(f.protocol for f in families),
        **{
            f"pattern.{kind}": _counts(f.patterns[kind] for f in families)
            for kind in ("misuse", "disguise", "authorization", "containment")
        },
    }
    why = None
    if short:
        told = ", ".join(f"{c} {n} of {requested[c]}" for c, n in short.items())
        why = f"too few families were accepted: {told}; see their findings with `agentbound status`, and mend the blueprints"
    return GateReport(gate="quotas", passed=not short, why=why, figures=figures)


def skeletons(families: Sequence[FamilyFacts]) -> GateReport:
    """No skeleton has too large a share."""
    counts = Counter(f.skeleton for f in families)
    commonest, most = counts.most_common(1)[0]
    share = most / len(families)
    binds = len(families) >= ENOUGH
    held = not binds or share <= MAX_SKELETON
    figures = {
        "distinct": len(counts),
        "largest_share": round(share, 4),
        "largest_share_allowed": MAX_SKELETON,
        "entropy_bits": round(_entropy(counts), 3),
        "binds": binds,
    }
    blueprint = next(f.blueprint for f in families if f.skeleton == commonest)
    why = (
        None
        if held
        else f"{share:.1%} of the families have the skeleton of {blueprint}; {MAX_SKELETON:.0%} may; give the class more blueprints"
    )
    return GateReport(gate="skeletons", passed=held, why=why, figures=figures)


def spread(families: Sequence[FamilyFacts]) -> GateReport:
    """How different the instructions are, as they stand and masked."""
    groups = [f.family_id for f in families for _ in SIBLINGS]
    raw = diversity([f.instructions[s] for f in families for s in SIBLINGS], groups)
    masked = nearest([f.masked[s] for f in families for s in SIBLINGS], groups)
    same = sum(x > SAME_MASKED for x in masked) / len(masked)
    binds = len(families) >= ENOUGH
    held = not binds or same <= MAX_SAME_MASKED
    figures = {
        **raw.model_dump(),
        "near_above": NEAR,
        "masked_same": round(same, 4),
        "masked_same_allowed": MAX_SAME_MASKED,
        "masked_above": SAME_MASKED,
        "binds": binds,
    }
    why = None
    if not held:
        blueprints = [f.blueprint for f in families for _ in SIBLINGS]
        alike = Counter(b for b, x in zip(blueprints, masked, strict=True) if x > SAME_MASKED)
        told = ", ".join(f"{b} {n}" for b, n in alike.most_common(3))
        why = (
            f"{same:.1%} of the instructions are the same as another family's but for names; {MAX_SAME_MASKED:.0%} may be; "
            f"most are from {told}: give them more wordings, or ask for fewer families"
        )
    return GateReport(gate="diversity", passed=held, why=why, figures=figures)


def _counts(items: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(items).items()))


def _entropy(counts: Counter[str]) -> float:
    total = counts.total()
    return -sum(n / total * math.log2(n / total) for n in counts.values())
