"""Drawing a scaffold from a blueprint."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from pydantic import ValidationError

from agentbound.data.blueprint import Blueprint
from agentbound.data.blueprint.conditions import Loc
from agentbound.data.canonical import digest
from agentbound.data.records import ENVIRONMENT, Scaffold
from agentbound.errors import ContentError, UsageError
from agentbound.generators.embedded.draws import Draws, Undrawable
from agentbound.generators.embedded.moments import draw_clock
from agentbound.generators.embedded.render import Template, compile_node
from agentbound.generators.embedded.tools import one_line, tool_record, transition_record
from agentbound.generators.embedded.values import draw_values, whole_between

__all__ = ["YEARS", "Drawn", "draw_scaffold"]

YEARS: Final = (2025, 2027)
"""The years a world's clock may lie in, both included."""

_REDRAWS: Final = 200
"""How often values are drawn anew until they are such that the forbidden flip exists."""

_RENDERED: Final = (
    *("environment", "mandate", "theme", "caller", "patterns", "rows", "tables", "views", "tools", "contracts"),
    *("flips", "success", "touches", "harms", "evidence", "investigation", "plan"),
)


@dataclass(frozen=True)
class Drawn:
    """A scaffold with the draw it came from: `values` holds every name and form that can be written."""

    blueprint: Blueprint
    scaffold: Scaffold
    draws: Draws = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """The hash of the scaffold: what chance that belongs to this draw alone is derived from."""
        return digest(self.scaffold.model_dump(mode="json"))

    @property
    def values(self) -> Mapping[str, Any]:
        return self.draws.values


def draw_scaffold(
    blueprint: Blueprint,
    rng: random.Random,
    family_id: str,
    *,
    clock_years: tuple[int, int] = YEARS,
    forbidden: str | None = None,
    elsewhere: bool = False,
) -> Drawn:
    """Draw a scaffold; equal states of `rng` give equal ones.

    `forbidden` names the flip of the forbidden world; without it one is drawn among those that may be it. `elsewhere`:
    its inserts and deletes take their other form, a row that lies elsewhere in one of the worlds. Raises
    `ContentError` where the blueprint has no such draw, `UsageError` for a flip it does not have.
    """
    if forbidden is not None and forbidden not in blueprint.flips:
        raise UsageError(
            f"{blueprint.name} has no flip {forbidden} that may be forbidden; it has {', '.join(blueprint.flips)}"
        )
    draws = Draws(rng)
    flip = forbidden or draws.one_of(blueprint.flips)
    templates = _templates(blueprint)
    try:
        draws, flips = _values(blueprint, draws, flip, clock_years)
        made = {key: templates[key](draws) for key in _RENDERED if key != "flips"}
    except Undrawable as error:
        raise ContentError(
            [blueprint.fault(("values",), f"a draw fails: {error}", "mend the values it speaks of")]
        ) from None
    record = _record(blueprint, {**made, "flips": flips}, draws, family_id, elsewhere)
    try:
        return Drawn(blueprint, Scaffold.model_validate(record), draws)
    except ValidationError as error:
        raise _no_record(blueprint, error) from None


def _values(
    blueprint: Blueprint, draws: Draws, flip: str, years: tuple[int, int]
) -> tuple[Draws, list[dict[str, Any]]]:
    """Values under which the forbidden flip exists, and the flips that then do."""
    raw, template = blueprint.raw, _templates(blueprint)["flips"]
    for _ in range(_REDRAWS):
        draws = Draws(draws.rng)
        draw_clock(draws, raw.get("clock") or {}, years)
        budget = raw["budget"]
        draws.values["budget"] = whole_between(draws, budget["int"]) if isinstance(budget, dict) else budget
        draws.values["forbidden"] = flip
        draw_values(draws, raw.get("values") or {})
        flips = template(draws)
        if any(f["id"] == flip and f.get("forbidden", True) for f in flips):
            return draws, flips
    raise Undrawable(f"the flip {flip} does not exist in {_REDRAWS} draws; look at its conditions")


@lru_cache(maxsize=512)
def _templates(blueprint: Blueprint) -> dict[str, Template]:
    return {key: compile_node(blueprint.raw.get(key)) for key in _RENDERED}


def _record(
    blueprint: Blueprint, made: Mapping[str, Any], draws: Draws, family_id: str, elsewhere: bool
) -> dict[str, Any]:
    forbidden = draws.values["forbidden"]
    flips = {f["id"]: f for f in made["flips"]}
    deltas = {name: [_change(c) for c in f["delta"]] for name, f in flips.items()}
    world = _world(made, tools := made["tools"] or {}, draws)
    if elsewhere:
        deltas[forbidden] = [_moved(c, world["rows"]) for c in deltas[forbidden]]
    environment = draws.one_of(made["environment"])
    return {
        "family_id": family_id,
        "category": blueprint.category,
        "risk_class": blueprint.risk_class,
        "domain": blueprint.domain,
        "blueprint": blueprint.name,
        "theme": made["theme"],
        "patterns": {kind: draws.one_of(ids) for kind, ids in made["patterns"].items()},
        "environment": environment["text"] if isinstance(environment, dict) else environment,
        "caller": made["caller"],
        "tools": [tool_record(name, spec) for name, spec in tools.items()],
        "world": world,
        "flips": [
            {"id": name, "delta": [_as_record(c) for c in deltas[name]], "refused_by": f["refused_by"]}
            for name, f in flips.items()
        ],
        "forbidden": forbidden,
        "authority": _authority(made, draws),
        "judge": _judge(made, flips[forbidden].get("decides") or []),
        "paths": _paths(made),
    }


def _world(made: Mapping[str, Any], tools: Mapping[str, Any], draws: Draws) -> dict[str, Any]:
    tables, views = made["tables"] or {}, made["views"] or {}
    schema = [f"CREATE TABLE {name}({one_line(columns)})" for name, columns in tables.items()]
    schema += [f"CREATE VIEW {name} AS {one_line(select)}" for name, select in views.items()]
    rows = {name: [_cells(row) for row in items] for name, items in made["rows"].items()}
    return {
        "clock": draws.values["clock"],
        "schema": schema,
        "rows": {**{name: [] for name in tables if name not in rows}, **rows},
        "transitions": {name: transition_record(spec) for name, spec in tools.items()},
    }


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as SQLite has it: truth is 0 or 1."""
    return {key: int(cell) if isinstance(cell, bool) else cell for key, cell in row.items()}


def _change(change: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _cells(part) if key in ("row", "set", "elsewhere") else part for key, part in change.items()}


def _as_record(change: Mapping[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in change.items() if key != "elsewhere"}


def _moved(change: dict[str, Any], rows: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """An insert or a delete as an update: the row is in both worlds, and lies elsewhere in the one it was not in."""
    aside = change.get("elsewhere")
    if aside is None:
        return change
    if change["op"] == "delete":
        return {"op": "update", "table": change["table"], "key": change["key"], "set": aside}
    row = change["row"]
    rows[change["table"]].append({**row, **aside})
    return {
        "op": "update",
        "table": change["table"],
        "key": row["id"],
        "set": {column: row[column] for column in aside},
    }


def _authority(made: Mapping[str, Any], draws: Draws) -> dict[str, Any]:
    contracts = [
        {
            "tool": contract["tool"],
            "callers": contract.get("callers") or [made["caller"]],
            "admit": [_ruled(grant) for grant in contract.get("admit") or []],
            "quota": _ruled(contract.get("quota")),
            "approval": _ruled(contract.get("approval")),
        }
        for contract in made["contracts"]
    ]
    return {"mandate": made["mandate"], "budget": {"calls": draws.values["budget"]}, "contracts": contracts}


def _ruled(limit: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A grant, quota or approval with its rule as the record has it."""
    if limit is None:
        return None
    table, _, key = limit["rule"].partition("/")
    lines = {k: one_line(limit[k]) for k in ("sql", "when", "find") if isinstance(limit.get(k), str)}
    return {**limit, **lines, "rule": table if table == ENVIRONMENT else {"table": table, "key": key}}


def _judge(made: Mapping[str, Any], decides: list[str]) -> dict[str, Any]:
    evidence = made["evidence"]
    steps = {step["id"] for step in made["plan"]}
    return {
        "success": [{"id": name, "sql": one_line(sql)} for name, sql in made["success"].items()],
        "touches": [_touch(touch) for touch in made["touches"]],
        "harms": [{**harm, "sql": one_line(harm["sql"])} for harm in made["harms"]],
        "evidence": [{"id": name, "decisive": name in decides, **spec} for name, spec in evidence.items()],
        "plan": [
            {
                "id": step["id"],
                "tool": step["tool"],
                "args": step.get("args") or {},
                # What a condition leaves out cannot be waited for.
                "after": [name for name in step.get("after") or [] if name in steps],
                "needs": [name for name in step.get("needs") or [] if name in evidence],
            }
            for step in made["plan"]
        ],
    }


def _touch(touch: str) -> dict[str, Any]:
    op, table, rows = touch.split()
    return {"op": op, "table": table, "rows": rows}


def _paths(made: Mapping[str, Any]) -> dict[str, Any]:
    reads = [{"tool": tool, "args": args or {}} for item in made["investigation"] for tool, args in item.items()]
    actions = [
        {
            "id": step["id"],
            "tool": step["tool"],
            "args": {**(step.get("args") or {}), **(step.get("says") or {})},
            "caller": step.get("caller"),
        }
        for step in made["plan"]
    ]
    return {"investigation": reads, "actions": actions}


_SECTIONS: Final[dict[str, Loc]] = {
    "world": ("rows",),
    "authority": ("contracts",),
    "paths": ("plan",),
    "flips": ("flips",),
    "tools": ("tools",),
    "patterns": ("patterns",),
}


def _no_record(blueprint: Blueprint, error: ValidationError) -> ContentError:
    faults = []
    for item in error.errors():
        loc = item["loc"]
        section = _SECTIONS.get(str(loc[0]), (str(loc[0]),))
        if loc[0] == "judge" and len(loc) > 1:
            section = (str(loc[1]),)
        place = ".".join(map(str, loc))
        faults.append(
            blueprint.fault(section, f"a draw is no record: {place}: {item['msg']}", "mend what is written there")
        )
    return ContentError(faults)
