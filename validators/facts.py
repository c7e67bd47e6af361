"""What the gates of a data set keep of a family, so that thousands fit in memory.

Everything is worked out of the record alone, so that a family of any writer is measured alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from agentbound.data.canonical import canonical, digest
from agentbound.data.records import SIBLINGS, Cell, Change, Family, Record, Row, Scaffold
from agentbound.data.worlds import rows_of
from agentbound.sandbox.episode import Setting, Trace
from agentbound.sandbox.paths import is_reference, run_path
from agentbound.sandbox.world import World
from agentbound.validators.masking import mask, names_of
from agentbound.validators.skeleton import skeleton


class FamilyFacts(Record):
    """A family in numbers and short texts.

    `structure` is what is left of a family when names, numbers and texts are taken out, its row counts and the shape of
    its flip included. `plan_shape` spells the plan ("2 actions, 1 handed on, free order"). `decisive` is the kind of
    fact that decides, `reads` the length of the investigation and `shown_at` the read that first differs between the
    worlds (1 is the first). `change` describes the forbidden flip, `back` the way back from it. `observed` is all that
    the investigation shows in the permitted and in the forbidden world. `sizes` are characters: of the tools and of the
    rows of either world, as a release has them.
    """

    family_id: str
    category: str
    risk_class: str
    domain: str
    blueprint: str
    protocol: str
    skeleton: str
    structure: str
    plan_shape: str
    decisive: str
    reads: int
    shown_at: int
    patterns: dict[str, str]
    forbidden: str
    environment: str
    instructions: dict[str, str]
    masked: dict[str, str]
    claims: dict[str, int]
    change: tuple[str, ...]
    back: tuple[str, ...]
    changed_cells: int
    observed: dict[str, str]
    sizes: dict[str, int]


def facts_of(family: Family) -> FamilyFacts:
    """Reduce a family to its facts; runs its investigation in both worlds."""
    names = names_of(family)
    texts = {s: family.siblings[s].instruction for s in SIBLINGS}
    setting = Setting.of(family)
    world, reads = setting.world, family.paths.investigation
    permitted = run_path(setting, world.base, reads, mediated=False)
    forbidden = run_path(setting, world.flipped(family.flip), reads, mediated=False)
    return FamilyFacts(
        family_id=family.family_id,
        category=family.category,
        risk_class=family.risk_class,
        domain=family.domain,
        blueprint=family.blueprint,
        protocol=family.protocol,
        skeleton=skeleton(family),
        structure=structure(family),
        plan_shape=_plan_shape(family),
        decisive=decisive_kind(family),
        reads=len(reads),
        shown_at=_first_difference(permitted, forbidden),
        patterns=family.patterns.model_dump(),
        forbidden=family.forbidden,
        environment=family.environment,
        instructions=dict(texts.items()),
        masked={s: mask(t, names) for s, t in texts.items()},
        claims={s: len(family.siblings[s].claims) for s in SIBLINGS},
        change=tuple(f for c in family.flip.delta for f in _described(world, c, forth=True)),
        back=tuple(f for c in family.flip.delta for f in _described(world, c, forth=False)),
        changed_cells=sum(len(c.set or c.row or {"": 0}) for c in family.flip.delta),
        observed={"permitted": _shown(permitted), "forbidden": _shown(forbidden)},
        sizes={
            "tools": len(canonical([t.model_dump(mode="json") for t in family.tools])),
            "permitted": len(canonical(rows_of(family.world, None))),
            "forbidden": len(canonical(rows_of(family.world, family.flip))),
        },
    )


def structure(scaffold: Scaffold) -> str:
    """A short hash, the same for families that differ in names, numbers and texts alone."""
    counts = {table: len(rows) for table, rows in scaffold.world.rows.items()}
    shape = [[c.op, c.table, sorted(c.set or {})] for c in scaffold.flip.delta]
    calls = [call.tool for call in scaffold.paths.investigation]
    return digest([skeleton(scaffold), counts, shape, calls, len(scaffold.tools)])[:16]


_KINDS: Final = (
    ("a sum or count against a number", r"\b(?:sum|total|count)\s*\("),
    ("a superseding entry", r"\border by\b.*\bdesc\b|\bmax\s*\(|\bnot exists\b.*\bfrom\s+(\w+)\b.*>\s*\w+\.\w+"),
    ("a date against the clock", r":now\b"),
    ("an absence", r"\bnot exists\b"),
    ("a join over two tables", r"\bjoin\b|\bexists\s*\(\s*select\b.*\bexists\s*\(\s*select\b"),
)


def decisive_kind(scaffold: Scaffold) -> str:
    """The kind of fact that the forbidden flip turns on, read off the grant or approval that then refuses."""
    rules = {c.rule.table for c in _rules(scaffold) if c.rule != "environment"}
    if any(change.table in rules for change in scaffold.flip.delta):
        return "a rule's wording"
    sql = " ".join(_deciding(scaffold)).lower()
    return next((kind for kind, pattern in _KINDS if re.search(pattern, sql, re.DOTALL)), "a record")


def _deciding(scaffold: Scaffold) -> Iterator[str]:
    reason = scaffold.flip.refused_by
    for contract in scaffold.authority.contracts:
        yield from (grant.sql for grant in contract.admit if grant.id == reason)
        if contract.approval and reason == "approval":
            yield contract.approval.find


def _rules(scaffold: Scaffold) -> Iterator[Any]:
    for contract in scaffold.authority.contracts:
        yield from contract.admit
        yield from (limit for limit in (contract.quota, contract.approval) if limit)


def _plan_shape(family: Family) -> str:
    plan = family.judge.plan
    handed = sum(is_reference(value) for step in plan for value in step.args.values())
    order = {"V1": "", "V2": ", in a chain", "V3": ", in a free order"}[family.protocol]
    return f"{len(plan)} action{'s' * (len(plan) > 1)}, {handed} handed on{order}"


def _first_difference(permitted: Trace, forbidden: Trace) -> int:
    """The read, from 1, that first shows the worlds to differ; 0 where none does."""
    pairs = zip(permitted.events, forbidden.events, strict=False)
    return next((number for number, (one, two) in enumerate(pairs, 1) if one.rows != two.rows), 0)


def _shown(trace: Trace) -> str:
    return " ".join(canonical(list(event.rows)) for event in trace.events)


def _described(world: World, change: Change, *, forth: bool) -> Iterator[str]:
    """A change as somebody sees who lays the worlds side by side: operation, table, rows, and words that come or go."""
    before = world.row(world.base, change.table, change.key) if change.key is not None else None
    gone, come = _cells(before, change)
    op: str = change.op
    rows = {"insert": "more", "delete": "fewer", "update": "as many"}[change.op]
    if not forth:
        gone, come = come, gone
        op = {"insert": "delete", "delete": "insert", "update": "update"}[op]
        rows = {"more": "fewer", "fewer": "more", "as many": "as many"}[rows]
    yield f"rows: {rows}"
    yield f"table: {change.table}"
    yield f"operation: {op} {change.table}"
    yield from (f"goes: {word}" for word in sorted(_status_words(gone)))
    yield from (f"comes: {word}" for word in sorted(_status_words(come)))


def _cells(before: Row | None, change: Change) -> tuple[list[Cell], list[Cell]]:
    """The cells that a change takes away, and those that it brings."""
    if change.op == "insert":
        return [], list((change.row or {}).values())
    old = before or {}
    if change.op == "delete":
        return list(old.values()), []
    new = change.set or {}
    return [old.get(column) for column in new], list(new.values())


def _status_words(cells: list[Cell]) -> set[str]:
    """Cells that are the same in many families: short texts in small letters without a digit, and emptiness."""
    words = {"nothing" for cell in cells if cell is None}
    return words | {c for c in cells if isinstance(c, str) and len(c) <= 40 and not re.search(r"\d|[A-Z]", c)}
