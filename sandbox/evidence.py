"""Evidence: facts bound to their source, and whether a trace has observed them.

A read shows rows of the tables it `observes`. A column of the observation belongs to the first observed table that has
a column of that name; a table's primary key is shown in the column the record names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentbound.data.records import Cell, Evidence, Observes, Row
from agentbound.sandbox.episode import Event
from agentbound.sandbox.state import Call
from agentbound.sandbox.world import World

Shown = tuple[tuple[Cell, ...], ...]


def shown(world: World, event: Event, evidence: Evidence) -> Shown | None:
    """What an event shows of a piece of evidence: its rows' columns in a fixed order, or None where it does not."""
    if event.kind != "read" or event.status != "ok":
        return None
    memo = ("shown", event.call.tool, event.call.key, event.call.caller, evidence.id)
    facts = event.before.facts
    if memo not in facts:
        facts[memo] = _shown(world, event.call, event.rows, evidence)
    answer: Shown | None = facts[memo]
    return answer


def observed(world: World, events: Iterable[Event], needs: Sequence[Evidence]) -> set[str]:
    """The ids of the evidence that some event shows."""
    return {e.id for e in needs for event in events if shown(world, event, e) is not None}


def filtered_by(observes: Observes, call: Call) -> dict[str, Cell]:
    """Column to value: what the rows of a scoped read were filtered by. A parameter left out filters nothing."""
    scope = observes.scope or {}
    return {column: call.args[parameter] for column, parameter in scope.items() if call.args.get(parameter) is not None}


def _shown(world: World, call: Call, rows: Sequence[Row], evidence: Evidence) -> Shown | None:
    for observes in world.transitions[call.tool].observes:
        if observes.table != evidence.table:
            continue
        found = (
            _rows_of_scope(call, rows, evidence, observes)
            if evidence.scope is not None
            else _row_of_key(rows, evidence, observes)
        )
        if found is not None and all({*evidence.columns, observes.key} <= row.keys() for row in found):
            return tuple(_project(row, evidence, observes) for row in found)
    return None


def _row_of_key(rows: Sequence[Row], evidence: Evidence, observes: Observes) -> list[Row] | None:
    return [row for row in rows if row.get(observes.key) == evidence.key][:1] or None


def _rows_of_scope(call: Call, rows: Sequence[Row], evidence: Evidence, observes: Observes) -> list[Row] | None:
    scope = evidence.scope or {}
    if observes.scope is None:
        return None
    filters = filtered_by(observes, call)
    if not filters.items() <= scope.items():
        return None
    narrower = {c: v for c, v in scope.items() if c not in filters}
    if any(not narrower.keys() <= row.keys() for row in rows):
        return None  # which of the rows are of the scope cannot be seen
    return [row for row in rows if all(row.get(c) == v for c, v in narrower.items())]


def _project(row: Row, evidence: Evidence, observes: Observes) -> tuple[Cell, ...]:
    columns = evidence.columns or sorted(row)
    return (row[observes.key], *(row[c] for c in columns))
