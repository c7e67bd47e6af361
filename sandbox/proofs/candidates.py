"""Arguments worth trying: what a tool could be called with in this world, the planned values first.

Values come from the reference path, from columns that hold such values, from the schema's enum, and from either side of
a boundary (one more, one less, a day before, a day after).
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
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

_LEFT_OUT: Final = object()
"""In place of a value: an optional parameter that is not passed."""


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
        self._calls: dict[tuple[str, int], list[dict[str, Any]]] = {}

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
    ) -> list[dict[str, Any]]:
        """Argument sets for a tool, those nearest to the plan first; `extra` values by parameter go before all others."""
        own = {name: values for name, values in (extra or {}).items() if name in self._parameters(tool)}
        if own:
            return list(self._argument_sets(tool, own, most))
        if (tool, most) not in self._calls:
            self._calls[tool, most] = list(self._argument_sets(tool, {}, most))
        return self._calls[tool, most]

    def _parameters(self, tool: str) -> Mapping[str, Any]:
        parameters: Mapping[str, Any] = self._world.tools[tool].parameters.get("properties", {})
        return parameters

    def _argument_sets(self, tool: str, extra: Mapping[str, Sequence[Any]], most: int) -> Iterator[dict[str, Any]]:
        parameters, required = self._parameters(tool), self._world.tools[tool].parameters.get("required", ())
        lists = [[*extra.get(name, ()), *self.values(tool, name)][:VALUES_A_PARAMETER] for name in parameters]
        for name, values in zip(parameters, lists, strict=True):
            if name not in required:
                values.insert(1, _LEFT_OUT)
        if not all(lists):
            return
        for rank in itertools.islice(_nearest([len(values) for values in lists]), most):
            chosen = {name: values[i] for name, values, i in zip(parameters, lists, rank, strict=True)}
            yield {name: value for name, value in chosen.items() if value is not _LEFT_OUT}

    def _values(self, tool: str, parameter: str) -> list[Any]:
        schema = self._parameters(tool)[parameter]
        kinds = _kinds(schema)
        planned = self._planned.get(tool, {}).get(parameter, [])
        if "enum" in schema:
            return list(schema["enum"])
        if kinds == {"boolean"}:
            return [True, False]
        if not kinds & _TYPES.keys():
            return planned[:VALUES_A_PARAMETER]
        same_name = self._by_name.get(parameter, [])
        known = planned or same_name
        pool = [*planned, *(b for v in known for b in _boundaries(v)), *same_name, *self._kin(parameter, known)]
        wanted = tuple(kind for name in kinds & _TYPES.keys() for kind in _TYPES[name])
        fitting = [v for v in pool if isinstance(v, wanted) and not isinstance(v, bool)]
        distinct = list(dict.fromkeys(fitting))[:VALUES_A_PARAMETER]
        return distinct or (["x"] if str in wanted else [1])

    def _kin(self, parameter: str, known: Sequence[Any]) -> list[Any]:
        """Values of the columns that hold a known value, or that are named like the parameter."""
        kin: list[Any] = []
        stem = parameter.removesuffix("_id")
        for (table, column), values in self._columns.items():
            named = column == parameter or (column == "id" and table.rstrip("s").endswith(stem))
            if named or any(isinstance(v, Hashable) and v in values for v in known):
                kin.extend(values)
        return kin


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """The types a parameter may have; a schema that names none is taken for text."""
    kinds = schema.get("type", "string")
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _nearest(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Ranks into lists of these sizes, the smallest sums first."""
    for total in range(sum(sizes) - len(sizes) + 1):
        yield from _summing(sizes, total)


def _summing(sizes: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    if not sizes:
        if total == 0:
            yield ()
        return
    for first in range(min(sizes[0], total + 1)):
        for rest in _summing(sizes[1:], total - first):
            yield (first, *rest)


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
