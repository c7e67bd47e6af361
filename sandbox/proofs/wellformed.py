"""What must be right before anything is run: every name a record uses exists (and see `statements`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from agentbound.data.findings import Finding
from agentbound.data.records import Scaffold, Sibling, SiblingName
from agentbound.errors import SqlRefused
from agentbound.sandbox.kernel import VERDICTS
from agentbound.sandbox.paths import is_reference
from agentbound.sandbox.proofs.bench import Bench
from agentbound.sandbox.proofs.statements import fault, schema_faults, statement_faults

_PERMITTED = "permitted"


def set_up(record: Scaffold, siblings: Mapping[SiblingName, Sibling]) -> tuple[Bench | None, list[Finding]]:
    """The record on the bench with the worlds of all its flips, or what keeps it from there."""
    faults = list(name_faults(record)) or list(schema_faults(record))
    if faults:
        return None, faults
    try:
        bench = Bench(record, siblings)
        faults = list(statement_faults(record, bench.setting.world.database))
        for flip in record.flips if not faults else ():
            bench.world_of(flip)
    except SqlRefused as error:
        faults = [fault("world", str(error), "mend the schema, the row or the flip")]
    return (None, faults) if faults else (bench, [])


def name_faults(record: Scaffold) -> Iterator[Finding]:
    """Findings about names."""
    tools = [t.name for t in record.tools]
    steps = [s.id for s in record.judge.plan]
    evidence = [e.id for e in record.judge.evidence]
    flips = [f.id for f in record.flips]
    for what, ids in (
        ("tool", tools),
        ("plan step", steps),
        ("evidence", evidence),
        ("flip", flips),
        ("harm", [h.id for h in record.judge.harms]),
        ("success", [t.id for t in record.judge.success]),
        ("contract", [c.tool for c in record.authority.contracts]),
    ):
        yield from (fault(f"{what} {i}", "the name is there twice", "give each its own", i) for i in _twice(ids))
    for name in sorted(set(tools) ^ set(record.world.transitions)):
        yield fault(
            f"tool {name}",
            "tools and transitions do not have the same names",
            "write a transition for each tool and a tool for each transition",
            name,
        )
    if _PERMITTED in flips:
        yield fault(f"flip {_PERMITTED}", "a flip named like the world it takes away", "give it another id")
    if record.forbidden not in flips:
        yield fault("forbidden", f"there is no flip {record.forbidden}", "name one of the flips", record.forbidden)
    yield from _tool_names(record, set(tools))
    yield from _plan_names(record, set(steps), set(evidence))
    yield from _refusals(record)


def _tool_names(record: Scaffold, tools: set[str]) -> Iterator[Finding]:
    used = [
        *((f"paths.investigation.{i}", c.tool) for i, c in enumerate(record.paths.investigation)),
        *((f"paths.actions.{i}", c.tool) for i, c in enumerate(record.paths.actions)),
        *((f"judge.plan.{s.id}", s.tool) for s in record.judge.plan),
        *(("authority.contracts", c.tool) for c in record.authority.contracts),
    ]
    for where, name in used:
        if name not in tools:
            yield fault(where, f"there is no tool {name}", f"name one of {', '.join(sorted(tools))}", name)


def _plan_names(record: Scaffold, steps: set[str], evidence: set[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for step in record.judge.plan:
        for name in step.needs:
            if name not in evidence:
                yield fault(
                    f"plan {step.id}", f"it needs {name}, which is no evidence", "name evidence of the judge", name
                )
        sources = [v["from"] for v in step.args.values() if is_reference(v)]
        for name in [*step.after, *sources]:
            if name not in seen:
                yield fault(
                    f"plan {step.id}",
                    f"it comes after {name}, which is no earlier step",
                    "write the steps in an order that can be done",
                    name,
                )
        for name in sources:
            if name not in step.after:
                yield fault(
                    f"plan {step.id}",
                    f"it uses a value of {name} and does not come after it",
                    f"add {name} to `after`",
                    name,
                )
        seen.add(step.id)
    actions = [a.id for a in record.paths.actions]
    if sorted(map(str, actions)) != sorted(steps):
        yield fault(
            "paths.actions",
            "the actions do not carry out the plan's steps, one each",
            "give each action the id of its step",
            actions,
        )
    for item in record.judge.evidence:
        if (item.key is None) == (item.scope is None):
            yield fault(
                f"evidence {item.id}", "it must have a key or a scope, and not both", "bind it to a row or to a scope"
            )


def _refusals(record: Scaffold) -> Iterator[Finding]:
    reasons = {g.id for c in record.authority.contracts for g in c.admit} | {"approval", "quota", "caller"}
    for flip in record.flips:
        if flip.refused_by not in reasons:
            yield fault(
                f"flip {flip.id}",
                f"refused_by {flip.refused_by} is no grant",
                "name the grant that fails, or approval",
                flip.refused_by,
            )
    for contract in record.authority.contracts:
        if contract.quota and (contract.quota.calls is None) == (contract.quota.sum is None):
            yield fault(f"contract {contract.tool}", "a quota has calls or a sum, one of the two", "write one of them")
        for name in sorted({g.id for g in contract.admit} & VERDICTS):
            yield fault(
                f"contract {contract.tool}", f"a grant named {name}, as a verdict of its own is", "rename it", name
            )
        for name in _twice(g.id for g in contract.admit):
            yield fault(f"contract {contract.tool}", f"the grant {name} is there twice", "give each its own name", name)


def _twice(ids: Iterable[str]) -> list[str]:
    return sorted(i for i, n in Counter(ids).items() if n > 1)
