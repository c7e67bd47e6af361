"""Proofs about what the agent can know: it can see what decides, and every argument has a place it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from agentbound.data.findings import Finding
from agentbound.data.records import Cell, Evidence, Row, SiblingName
from agentbound.sandbox.episode import Event, Trace
from agentbound.sandbox.evidence import filtered_by, shown
from agentbound.sandbox.paths import is_reference
from agentbound.sandbox.proofs.bench import Bench, found, proof, spell
from agentbound.sandbox.proofs.candidates import Candidates
from agentbound.sandbox.state import Call, State
from agentbound.sandbox.world import World

QUOTED_IN: Final[tuple[SiblingName, ...]] = ("CM", "EB", "HB")
"""HS may say what differs: it states intent."""


@proof(
    "observable",
    "the investigation shows each piece of decisive evidence in both worlds, and shows it different; CM, EB and HB quote no value that differs",
    reads_wordings=True,
)
def observable(bench: Bench) -> Iterator[Finding]:
    decisive = [e for e in bench.record.judge.evidence if e.decisive]
    needed = {n for s in bench.record.judge.plan for n in s.needs}
    before, after = bench.investigations["permitted"], bench.investigations[bench.record.forbidden]
    if not decisive:
        yield found(
            "observable",
            "judge.evidence",
            "no evidence is decisive",
            "mark the evidence that shows what the forbidden flip changes",
        )
    for evidence in decisive:
        where = f"evidence {evidence.id}"
        if evidence.id not in needed:
            yield found(
                "observable",
                where,
                "decisive, and no action needs it",
                "name it in the `needs` of the action it decides",
                seen=evidence.id,
            )
        views = [view(bench, trace, evidence) for trace in (before, after)]
        for name, seen in zip(("permitted", bench.record.forbidden), views, strict=True):
            if seen is None:
                yield found(
                    "observable",
                    f"{where}, world {name}",
                    "no read of the investigation shows it with its columns",
                    "add the read, or the columns to the read",
                    seen=evidence.columns,
                )
        if views[0] is not None and views[0] == views[1]:
            yield found(
                "observable",
                where,
                "it looks the same in both worlds",
                "let the read show the column that the flip changes",
                seen=views[0],
            )
    yield from _quoted(bench)


def view(bench: Bench, trace: Trace, evidence: Evidence) -> Any:
    """What the first read of a trace that shows the evidence shows of it, or None."""
    views = (shown(bench.setting.world, event, evidence) for event in trace.events)
    return next((v for v in views if v is not None), None)


def _quoted(bench: Bench) -> Iterator[Finding]:
    values = differing_values(bench.setting.world, bench.permitted, bench.forbidden)
    for name in QUOTED_IN:
        sibling = bench.siblings.get(name)
        if sibling is None:
            continue
        for value in values:
            form = next((f for f in renderings(value) if stands_in(f, sibling.instruction)), None)
            if form is not None:
                yield found(
                    "observable",
                    f"siblings.{name}.instruction",
                    f"it quotes {form!r}, which differs between the worlds",
                    "leave the value out of the wording",
                    part=name,
                    seen=form,
                )


def differing_values(world: World, before: State, after: State) -> list[Cell]:
    """Cells that tell the worlds apart, in an order that does not vary; flags and empty cells say nothing.

    Of a row that is changed, the cells that are; of a row that is in one world only, the cells that no row of both
    worlds has.
    """
    common = {v for table, rows in before.tables.items() for row in set(rows) & set(after.tables[table]) for v in row}
    values: dict[Cell, None] = {}
    for table in before.tables:
        if before.digests[table] == after.digests[table]:
            continue
        primary = world.database.primary_keys[table]
        old = {r[primary]: r for r in world.rows(before, table)}
        new = {r[primary]: r for r in world.rows(after, table)}
        for key in sorted(old.keys() | new.keys(), key=str):
            one, two = old.get(key), new.get(key)
            if one and two:
                pairs = [(one[c], two[c]) for c in one if one[c] != two[c]]
                values.update((v, None) for pair in pairs if {*pair} - {0, 1, None} for v in pair)
            else:
                values.update((v, None) for v in (one or two or {}).values() if v not in common)
    return [v for v in values if v not in (None, "", 0, 1)]


_MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def renderings(value: Cell) -> list[str]:
    """The ways in which a person writes a cell: as it is, as money, as a date."""
    if isinstance(value, int):
        forms = [str(value)]
        if abs(value) >= 100:
            forms += [f"{value / 100:.2f}", f"{value:,}"]
            if value % 100 == 0:
                forms.append(str(value // 100))
        return forms
    if isinstance(value, float):
        return [f"{value:g}"]
    text = str(value)
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}Z)?", text):
        day = datetime.fromisoformat(text[:10])
        month = _MONTHS[day.month - 1]
        return [text, text[:10], f"{day.day} {month}", f"{month} {day.day}", f"{day.day} {month[:3]}"]
    return [text]


def stands_in(form: str, text: str) -> bool:
    """Whether the form stands in the text as words of their own."""
    return re.search(rf"(?<![\w.,-]){re.escape(form)}(?![\w-])(?![.,]\d)", text, re.IGNORECASE) is not None


@proof(
    "grounded",
    "every argument of the path stands in the instruction, the environment or an earlier observation, for each of the four instructions",
    reads_wordings=True,
)
def grounded(bench: Bench) -> Iterator[Finding]:
    planned = {(s.id, name) for s in bench.record.judge.plan for name in s.args}
    calls = [(call, event) for call, event in zip(bench.path, bench.reference_trace.events, strict=False)]
    for position, (call, event) in enumerate(calls):
        earlier = [e for _, e in calls[:position]]
        for name, value in call.args.items():
            free = call.id is not None and (call.id, name) not in planned
            if free or is_reference(value) or stands_in_observations(event.call.args[name], earlier):
                continue
            if said_in(value, bench.record.environment):
                continue
            for sibling, wording in bench.siblings.items():
                if not said_in(value, wording.instruction):
                    yield found(
                        "grounded",
                        f"{spell(call)}, {name}",
                        f"{value!r} comes from nowhere when {sibling} is the instruction",
                        "name it in the wording, or read it before it is used",
                        part=sibling,
                        seen=value,
                    )


def said_in(value: Any, text: str) -> bool:
    """Whether a value stands in a text, in one of the ways a person writes it."""
    return any(stands_in(form, text) for form in renderings(value))


def stands_in_observations(value: Any, events: Sequence[Event]) -> bool:
    """Whether a value was observed: as a cell, or as a word of a cell."""
    for event in events:
        for row in event.rows:
            for cell in row.values():
                if cell == value and isinstance(cell, bool) == isinstance(value, bool):
                    return True
                if isinstance(cell, str) and isinstance(value, str) and stands_in(value, cell):
                    return True
                if isinstance(cell, str) and len(cell) > 20 and said_in(value, cell):
                    return True
    return False


@proof("honest", "a read shows rows as they are and all of the scope it declares")
def honest(bench: Bench) -> Iterator[Finding]:
    record, world = bench.record, bench.setting.world
    states = [state for _, state in bench.worlds()]
    candidates = Candidates(record, world, states, bench.reference_trace)
    tried = 0
    told: set[tuple[str, str]] = set()
    for tool, transition in world.transitions.items():
        if transition.kind != "read":
            continue
        for args in candidates.calls(tool, most=6):
            call = Call.of(tool, args, world.caller)
            if world.fault(call) is not None:
                continue
            for state in states:
                tried += 1
                for what, mend in _lies(world, state, call):
                    if (tool, what) not in told:
                        told.add((tool, what))
                        yield found("honest", f"{tool}({call.key})", what, mend, seen=tool)
    bench.receipt("honest", reads=tried)


def _lies(world: World, state: State, call: Call) -> Iterator[tuple[str, str]]:
    outcome = world.perform(state, call)
    if outcome.status != "ok":
        return
    observed_tables = world.transitions[call.tool].observes
    owners = _owners(world, outcome.rows, [(o.table, o.key) for o in observed_tables])
    for observes in observed_tables:
        actual = {r[world.database.primary_keys[observes.table]]: r for r in world.rows(state, observes.table)}
        seen_keys = [row.get(observes.key) for row in outcome.rows]
        if any(observes.key not in row for row in outcome.rows):
            yield (
                f"no column {observes.key} in the rows, which `observes` names",
                "select the primary key under that name",
            )
            continue
        for row in outcome.rows:
            key = row[observes.key]
            if key is None:
                continue  # the row of an outer join that is not there
            if key not in actual:
                yield (
                    f"it shows a row {key} of {observes.table} that is not there",
                    "select rows of the table, under their own keys",
                )
                continue
            for column, table in owners.items():
                if table == observes.table and row[column] != actual[key][column]:
                    yield (
                        f"{observes.table}.{column} of {key} is shown as {row[column]!r} and is {actual[key][column]!r}",
                        "show the column as it is, or give the reckoned value another name",
                    )
        if observes.scope is not None:
            filters = filtered_by(observes, call)
            due = {k for k, r in actual.items() if all(r.get(c) == v for c, v in filters.items())}
            if due != set(seen_keys):
                missing = sorted(map(str, due - set(seen_keys)))
                yield (
                    f"{observes.table} in scope {filters}: rows {missing or 'of another scope'} {'left out' if missing else 'shown'}",
                    "show all rows of the scope and no others, or declare another scope",
                )
    yield from _borrowed(world, state, call, outcome.rows, owners, {o.key for o in observed_tables})


def _owners(world: World, rows: Sequence[Row], observed: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Column of the observation to the observed table it belongs to: the first that has one of that name."""
    owners: dict[str, str] = {}
    keys = {key for _, key in observed}
    for column in rows[0] if rows else ():
        if column in keys:
            continue
        for table, _ in observed:
            if column in world.database.columns[table] and column != world.database.primary_keys[table]:
                owners[column] = table
                break
    return owners


def _borrowed(
    world: World, state: State, call: Call, rows: Sequence[Row], owners: dict[str, str], keys: set[str]
) -> Iterator[tuple[str, str]]:
    """A column of no observed table, but named like one of a table the statement reads, must hold values of that table."""
    statement = world.database.statement(world.transitions[call.tool].sql[-1], "read")
    read = {t for t, _ in statement.reads if t in world.database.columns}
    for column in rows[0] if rows else ():
        if column in owners or column in keys:
            continue
        sources = [t for t in read if column in world.database.columns[t]]
        if not sources:
            continue
        actual = {r[column] for t in sources for r in world.rows(state, t)} | {None}
        wrong = next((row[column] for row in rows if row[column] not in actual), None)
        if wrong is not None:
            yield (
                f"{column} is shown as {wrong!r}, which no {' or '.join(sorted(sources))} has",
                "show the column as it is, or give the reckoned value another name",
            )
