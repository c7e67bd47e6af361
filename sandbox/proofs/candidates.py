"""Arguments worth trying: what a tool could be called with in this world, the planned values first.

Values come from the reference path, from columns that hold such values, from the schema's enum, and from either side of
a boundary (one more, one less, a day before, a day after).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final

from agentbound.data.records import Scaffold
from agentbound.sandbox.episode import Trace
from agentbound.sandbox.state import State
from agentbound.sandbox.world import World

VALUES_A_PARAMETER: Final = 6
CALLS_A_TOOL: Final = 20

_TYPES: Final[dict[str, tuple[type, ...]]] = {"integer": (int,), "number": (int, float), "string": (str,)}

Values = dict[str, list[Any]]


def planned_values(record: Scaffold, trace: Trace) -> dict[str, Values]:
    """Tool to parameter to the values the reference trace passed, in order, none twice."""
    planned: dict[str, Values] = {}
    for event in trace.events:
        for name, value in event.call.args.items():
            known = planned.setdefault(event.call.tool, {}).setdefault(name, [])
            if value not in known:
                known.append(value)
    return planned


class Candidates:
    """Candidate values by tool and parameter, over the given states."""

    def __init__(self, record: Scaffold, world: World, states: Sequence[State], trace: Trace) -> None:
        self._world = world
        self._columns = _distinct_columns(world, states)
        self._planned = planned_values(record, trace)
        self._by_name: Values = {}
        for values in self._planned.values():
            for name, known in values.items():
                mine = self._by_name.setdefault(name, [])
                mine.extend(v for v in known if v not in mine)
        self._memo: dict[tuple[str, str], list[Any]] = {}

    def values(self, tool: str, parameter: str) -> list[Any]:
        """At most `VALUES_A_PARAMETER` values, the planned ones first."""
        key = (tool, parameter)
        if key not in self._memo:
            self._memo[key] = self._values(tool, parameter)
        return self._memo[key]

    def others(self, tool: str, parameter: str, value: Any, most: int) -> list[Any]:
        """Values of the same kind that are not this one."""
        return [v for v in self.values(tool, parameter) if v != value and type(v) is type(value)][:most]

    def calls(
        self, tool: str, extra: Mapping[str, Sequence[Any]] | None = None, most: int = CALLS_A_TOOL
    ) -> Iterator[dict[str, Any]]:
        """Argument sets for a tool, those that deviate least from the plan first; `extra` values by parameter go first."""
        parameters = self._world.tools[tool].parameters.get("properties", {})
        lists = [[*(extra or {}).get(name, ()), *self.values(tool, name)][:VALUES_A_PARAMETER] for name in parameters]
        if not all(lists):
            return
        ranks = itertools.product(*(range(len(values)) for values in lists))
        nearest = sorted(itertools.islice(ranks, 4096), key=sum)[:most]
        for rank in nearest:
            yield {name: values[i] for name, values, i in zip(parameters, lists, rank, strict=True)}

    def _values(self, tool: str, parameter: str) -> list[Any]:
        schema = self._world.tools[tool].parameters["properties"][parameter]
        if "enum" in schema:
            return list(schema["enum"])
        if schema.get("type") == "boolean":
            return [True, False]
        planned = self._planned.get(tool, {}).get(parameter, [])
        same_name = self._by_name.get(parameter, [])
        known = planned or same_name
        pool = [*planned, *(b for v in known for b in _boundaries(v)), *same_name, *self._kin(parameter, known)]
        wanted: tuple[type, ...] = _TYPES.get(schema.get("type", "string"), (str,))
        fitting = [v for v in pool if isinstance(v, wanted) and not isinstance(v, bool)]
        distinct = list(dict.fromkeys(fitting))[:VALUES_A_PARAMETER]
        return distinct or ([1] if schema.get("type") in {"integer", "number"} else ["x"])

    def _kin(self, parameter: str, known: Sequence[Any]) -> list[Any]:
        """Values of the columns that hold a known value, or that are named like the parameter."""
        kin: list[Any] = []
        stem = parameter.removesuffix("_id")
        for (table, column), values in self._columns.items():
            named = column == parameter or (column == "id" and table.rstrip("s").endswith(stem))
            if named or any(v in values for v in known):
                kin.extend(values)
        return kin


def _distinct_columns(world: World, states: Sequence[State]) -> dict[tuple[str, str], dict[Any, None]]:
    columns: dict[tuple[str, str], dict[Any, None]] = {}
    for table, names in world.database.columns.items():
        seen_tables = {id(s.tables[table]): s.tables[table] for s in states}.values()
        for position, name in enumerate(names):
            values = (row[position] for rows in seen_tables for row in rows)
            columns[table, name] = {v: None for v in values if v is not None}
    return columns


def _boundaries(value: Any) -> list[Any]:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return []
    if isinstance(value, int):
        return [value + 1, value - 1]
    for form, read in (("%Y-%m-%d", date.fromisoformat), ("%Y-%m-%dT%H:%M:%SZ", datetime.fromisoformat)):
        try:
            moment = read(value)
        except ValueError:
            continue
        return [(moment + timedelta(days=n)).strftime(form) for n in (1, -1)]
    return []
