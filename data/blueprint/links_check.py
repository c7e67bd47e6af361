"""Faults in how the pieces of a blueprint name each other, in one version of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from agentbound.data.blueprint.conditions import Loc
from agentbound.data.blueprint.model import BlueprintFile, ToolSpec
from agentbound.data.blueprint.values_check import Problem

__all__ = ["Applications", "link_problems"]

APPROVAL: Final = "approval"


@dataclass(frozen=True)
class Applications:
    """All tables, views and tools of a version, those of the parts and the blueprint's own."""

    tables: frozenset[str]
    views: frozenset[str]
    tools: Mapping[str, ToolSpec]

    def kind(self, tool: str) -> str:
        return "read" if self.tools[tool].read is not None else "write"


def link_problems(file: BlueprintFile, apps: Applications) -> Iterator[Problem]:
    """Everything that names a tool, a table, a piece of evidence, a step or a grant that is not there."""
    yield from _tables(file, apps)
    yield from _tools(file, apps)
    yield from _contracts(file, apps)
    yield from _flips(file, apps)
    yield from _evidence(file, apps)
    yield from _investigation(file, apps)
    yield from _plan(file, apps)


def _missing(name: str, known: Iterable[str], what: str, loc: Loc) -> Iterator[Problem]:
    names = sorted(known)
    if name not in names:
        yield loc, f"there is no {what} {name}", f"there are {', '.join(names) or 'none'}"


def _tables(file: BlueprintFile, apps: Applications) -> Iterator[Problem]:
    for table in file.rows:
        yield from _missing(table, apps.tables, "table", ("rows", table))
    for number, touch in enumerate(file.touches):
        yield from _missing(touch.split()[1], apps.tables, "table", ("touches", number))


def _tools(file: BlueprintFile, apps: Applications) -> Iterator[Problem]:
    for name, tool in file.tools.items():
        parameters = {p.removesuffix("?") for p in tool.params}
        for parameter, (table, _) in tool.known.items():
            loc = ("tools", name, "known", parameter)
            yield from _missing(parameter, parameters, "parameter", loc)
            yield from _missing(table.split(".")[0], apps.tables | apps.views, "table", loc)
        for number, seen in enumerate(tool.observes):
            table = seen.split(".")[0] if isinstance(seen, str) else seen.table
            yield from _missing(table, apps.tables, "table", ("tools", name, "observes", number))
            for argument in ({} if isinstance(seen, str) else seen.scope or {}).values():
                yield from _missing(argument, parameters, "parameter", ("tools", name, "observes", number))


def _contracts(file: BlueprintFile, apps: Applications) -> Iterator[Problem]:
    for number, contract in enumerate(file.contracts):
        loc: Loc = ("contracts", number)
        yield from _called(contract.tool, "write", apps, (*loc, "tool"))
        for at, grant in enumerate(contract.admit):
            yield from _rule(grant.rule, apps, (*loc, "admit", at, "rule"))
        if contract.quota:
            yield from _rule(contract.quota.rule, apps, (*loc, "quota", "rule"))
        if contract.approval:
            yield from _rule(contract.approval.rule, apps, (*loc, "approval", "rule"))


def _called(tool: str, kind: str, apps: Applications, loc: Loc) -> Iterator[Problem]:
    yield from _missing(tool, apps.tools, "tool", loc)
    if tool in apps.tools and apps.kind(tool) != kind:
        yield loc, f"{tool} is a {apps.kind(tool)}", f"name a tool with `{kind}`"


def _rule(rule: str, apps: Applications, loc: Loc) -> Iterator[Problem]:
    if rule != "environment":
        yield from _missing(rule.partition("/")[0], apps.tables, "table", loc)


def _flips(file: BlueprintFile, apps: Applications) -> Iterator[Problem]:
    reasons = {g.id for c in file.contracts for g in c.admit}
    reasons |= {APPROVAL for c in file.contracts if c.approval}
    for number, flip in enumerate(file.flips):
        loc: Loc = ("flips", number)
        yield from _missing(flip.refused_by, reasons, "grant", (*loc, "refused_by"))
        for name in flip.decides:
            yield from _missing(name, file.evidence, "evidence", (*loc, "decides"))
        for at, change in enumerate(flip.delta):
            yield from _missing(change.table, apps.tables, "table", (*loc, "delta", at, "table"))
    if not any(flip.forbidden for flip in file.flips):
        yield ("flips",), "no flip may be the forbidden one", "let at least one be without `forbidden: false`"


def _evidence(file: BlueprintFile, apps: Applications) -> Iterator[Problem]:
    for name, evidence in file.evidence.items():
        yield from _missing(evidence.table, apps.tables, "table", ("evidence", name, "table"))


def _investigation(file: BlueprintFile, apps: Applications) -> Iterator[Problem]:
    for number, item in enumerate(file.investigation):
        loc: Loc = ("investigation", number)
        if len(item) != 1:
            yield loc, f"a call names one tool, this one names {len(item)}", "write {tool: {argument: value}}"
        for tool, args in item.items():
            yield from _called(tool, "read", apps, loc)
            yield from _arguments(tool, args or {}, apps, loc)


def _plan(file: BlueprintFile, apps: Applications) -> Iterator[Problem]:
    steps: list[str] = []
    for number, step in enumerate(file.plan):
        loc: Loc = ("plan", number)
        yield from _called(step.tool, "write", apps, (*loc, "tool"))
        yield from _arguments(step.tool, {**step.args, **step.says}, apps, loc)
        for name in step.after:
            yield from _missing(name, steps, "earlier step", (*loc, "after"))
        for name in step.needs:
            yield from _missing(name, file.evidence, "evidence", (*loc, "needs"))
        for key, value in step.args.items():
            if isinstance(value, dict) and "from" in value:
                yield from _missing(str(value["from"]), steps, "earlier step", (*loc, "args", key))
        steps.append(step.id)


def _arguments(tool: str, args: Mapping[str, object], apps: Applications, loc: Loc) -> Iterator[Problem]:
    if tool not in apps.tools:
        return
    params = apps.tools[tool].params
    for name in args:
        yield from _missing(name, [p.removesuffix("?") for p in params], f"parameter of {tool}", loc)
    for name in params:
        if not name.endswith("?") and name not in args:
            yield loc, f"{tool} needs {name}", f"write {name}: …"
