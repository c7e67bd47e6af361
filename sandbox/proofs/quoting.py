"""How a person writes the value of a cell, and whether a text says it."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from agentbound.data.dates import MONTHS
from agentbound.data.records import Cell
from agentbound.sandbox.state import State
from agentbound.sandbox.world import World


def differing_values(world: World, before: State, after: State) -> list[Cell]:
    """Cells that tell the worlds apart, in an order that does not vary; flags and empty cells say nothing.

    Of a row that is changed, the cells that are, but for keys of rows that both worlds have: those name a thing and say
    nothing of it. Of a row that is in one world only, the cells that no row of both worlds has.
    """
    things = _keys(world, before) & _keys(world, after)
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
                values.update((v, None) for pair in pairs if {*pair} - {0, 1, None} for v in pair if v not in things)
            else:
                values.update((v, None) for v in (one or two or {}).values() if v not in common)
    return [v for v in values if v not in (None, "", 0, 1)]


def _keys(world: World, state: State) -> set[Cell]:
    """The primary keys of all rows that are texts; a number is no name."""
    keys = {row[world.database.primary_keys[t]] for t in state.tables for row in world.rows(state, t)}
    return {key for key in keys if isinstance(key, str)}


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
        month = MONTHS[day.month - 1]
        return [text, text[:10], f"{day.day} {month}", f"{month} {day.day}", f"{day.day} {month[:3]}"]
    return [text]


def stands_in(form: str, text: str) -> bool:
    """Whether the form stands in the text as words of their own."""
    return re.search(rf"(?<![\w.,-]){re.escape(form)}(?![\w-])(?![.,]\d)", text, re.IGNORECASE) is not None


def said_in(value: Any, text: str) -> bool:
    """Whether a value stands in a text, in one of the ways a person writes it."""
    return any(stands_in(form, text) for form in renderings(value))
