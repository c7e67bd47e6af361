"""A family as a person reads it: wordings, flip, facts and rules, and the path in both worlds side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule as Line
from rich.table import Table
from rich.text import Text

from agentbound.data.records import Change, Evidence, Family, Row, RuleText, SiblingName
from agentbound.sandbox.episode import Event, Setting, Trace
from agentbound.sandbox.evidence import shown
from agentbound.sandbox.paths import reference, run_path

TITLES: Mapping[SiblingName, str] = {
    "EB": "EB  easy benign",
    "CM": "CM  covert malicious",
    "HB": "HB  hard benign",
    "HS": "HS  harmful source",
}


def family_view(family: Family, certificate: Mapping[str, Any] | None) -> RenderableType:
    """Everything `show` prints of one family; it runs the reference path in both worlds to do so."""
    setting = Setting.of(family)
    path = reference(family.paths.investigation, family.paths.actions)
    permitted = run_path(setting, setting.world.base, path, mediated=False)
    forbidden = run_path(setting, setting.world.flipped(family.flip), path, mediated=False)
    return Group(
        _head(family),
        _wordings(family),
        Line("what takes permission away", align="left"),
        _flip(family, setting),
        Line("what decides", align="left"),
        _facts(family, setting, permitted, forbidden),
        Line("the rules", align="left"),
        _rules(family),
        Line("one path, two worlds", align="left"),
        _path(permitted, forbidden),
        Line("receipts", align="left"),
        _receipts(certificate),
    )


def _head(family: Family) -> RenderableType:
    text = Text()
    text.append(f"{family.family_id}\n", style="bold")
    text.append(f"{family.theme}\n")
    text.append(f"{family.category} / {family.risk_class} · {family.domain} · {family.protocol}\n", style="dim")
    text.append(family.environment, style="italic")
    return text


def _wordings(family: Family) -> RenderableType:
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(ratio=1)
    table.add_column(ratio=1)
    table.add_row(Text("permitted world", style="green"), Text("forbidden world", style="red"))
    rows: list[tuple[SiblingName, SiblingName]] = [("EB", "CM"), ("HB", "HS")]
    for left, right in rows:
        table.add_row(_wording(family, left, "green"), _wording(family, right, "red"))
    return table


def _wording(family: Family, name: SiblingName, colour: str) -> RenderableType:
    sibling = family.siblings[name]
    text = Text(sibling.instruction)
    for claim in sibling.claims:
        text.highlight_words([claim], style="underline")
    return Panel(text, title=TITLES[name], title_align="left", border_style=colour)


def _flip(family: Family, setting: Setting) -> RenderableType:
    """The flips, that of the forbidden world first: what each changes, from the permitted world on."""
    text = Text()
    for flip in sorted(family.flips, key=lambda f: f.id != family.forbidden):
        chosen = flip.id == family.forbidden
        text.append(f"{'●' if chosen else '○'} {flip.id}", style="bold red" if chosen else "")
        text.append(f"  refused by {flip.refused_by}\n", style="dim")
        for change in flip.delta:
            before, after = _sides(change, setting)
            text.append(
                f"    {change.table} {_key(change, setting)}: {before} → {after}\n", style="" if chosen else "dim"
            )
    text.rstrip()
    return text


def _key(change: Change, setting: Setting) -> str:
    primary = setting.world.database.primary_keys[change.table]
    return str(change.key if change.key is not None else (change.row or {}).get(primary))


def _sides(change: Change, setting: Setting) -> tuple[str, str]:
    if change.op == "insert":
        return "no such row", _spell(change.row or {})
    row = setting.world.row(setting.world.base, change.table, change.key) or {}
    if change.op == "delete":
        return _spell(row), "no such row"
    return _spell({k: row.get(k) for k in change.set or {}}), _spell(change.set or {})


def _spell(row: Row) -> str:
    return ", ".join(f"{k}={v}" for k, v in row.items())


def _facts(family: Family, setting: Setting, permitted: Trace, forbidden: Trace) -> RenderableType:
    text = Text()
    for evidence in family.judge.evidence:
        place = evidence.key if evidence.key is not None else _spell(evidence.scope or {})
        marked = "● " if evidence.decisive else "○ "
        text.append(f"{marked}{evidence.id}", style="bold" if evidence.decisive else "")
        text.append(f"  {evidence.table} {place}: {evidence.because}\n")
        if evidence.decisive:
            text.append(f"    permitted  {_seen(setting, permitted, evidence)}\n", style="green")
            text.append(f"    forbidden  {_seen(setting, forbidden, evidence)}\n", style="red")
    text.rstrip()
    return text


def _seen(setting: Setting, trace: Trace, evidence: Evidence) -> str:
    views = (shown(setting.world, event, evidence) for event in trace.events)
    view = next((v for v in views if v is not None), None)
    if not view:
        return "nothing on file"
    return "; ".join(", ".join(str(cell) for cell in row) for row in view)


def _rules(family: Family) -> RenderableType:
    text = Text()
    named: set[tuple[str, str]] = set()
    for contract in family.authority.contracts:
        rules = [g.rule for g in contract.admit]
        rules += [c.rule for c in (contract.quota, contract.approval) if c is not None]
        named |= {(r.table, r.key) for r in rules if isinstance(r, RuleText)}
    for table, key in sorted(named, key=lambda rule: (rule[0], len(rule[1]), rule[1])):  # R-2 before R-10
        row = next((r for r in family.world.rows.get(table, []) if key in r.values()), {})
        body = max((str(v) for v in row.values()), key=len, default="")
        text.append(f"{key}  ", style="bold")
        text.append(f"{body}\n")
    text.rstrip()
    return text


def _path(permitted: Trace, forbidden: Trace) -> RenderableType:
    others = {(e.step, e.call.tool): e for e in forbidden.events}
    parts: list[RenderableType] = []
    for event in permitted.events:
        twin = others.get((event.step, event.call.tool))
        parts.append(Text(f"{event.step}. {event.call.tool} {event.call.key}", style="bold"))
        told = ("rows", "verdict", "status", "error")
        same = twin is not None and all(getattr(twin, name) == getattr(event, name) for name in told)
        row = Table.grid(expand=True, padding=(0, 1))
        row.add_column(ratio=1)
        row.add_column(ratio=1)
        right = Text("the same", style="dim") if same else _observation(twin, event, "red")
        row.add_row(_observation(event, event, "dim"), right)
        parts.append(row)
    return Group(*parts)


def _observation(event: Event | None, twin: Event, style: str) -> Text:
    if event is None:
        return Text("not made: it waits for a value no call gave", style=style)
    text = Text(style=style)
    if event.kind == "write":
        against = f"against {event.verdict}" if event.verdict else "admitted"
        text.append(f"{event.status}, {against}\n", style="bold red" if event.verdict else "green")
    lines = list(_lines(event, twin))
    text.append("\n".join(lines))
    return text


def _lines(event: Event, twin: Event) -> Iterator[str]:
    if event.status != "ok":
        yield event.error or event.status
        return
    if not event.rows:
        yield "no rows"
    unlike = [row for row in event.rows if event is not twin and row not in twin.rows]
    for row in unlike or event.rows:
        yield _spell(row)
    if unlike and len(unlike) < len(event.rows):
        yield f"… and {len(event.rows) - len(unlike)} rows as on the left"


def _receipts(certificate: Mapping[str, Any] | None) -> RenderableType:
    if not certificate:
        return Text("no certificate with this family; `agentbound prove` makes one", style="dim")
    text = Text(f"{certificate['runs']} runs, record {certificate['record'][:16]}…\n")
    for code, values in certificate["proofs"].items():
        short = ", ".join(f"{k} {_brief(v)}" for k, v in values.items())
        text.append(f"✓ {code}", style="green")
        text.append(f"  {short}\n", style="dim")
    text.rstrip()
    return text


def _brief(value: Any) -> str:
    if isinstance(value, str) and len(value) == 64:
        return f"{value[:12]}…"
    if isinstance(value, list):
        return f"{len(value)}"
    if isinstance(value, dict):
        return ", ".join(
            f"{k}={_brief(v) if not isinstance(v, list) else '/'.join(map(str, v))}" for k, v in value.items()
        )
    return str(value)
