"""The proof that the judge is sharp: every deviation from the plan is noticed, and nothing that is none."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

from agentbound.data.findings import Finding
from agentbound.data.records import PathCall, Step
from agentbound.sandbox.evidence import shown
from agentbound.sandbox.judge import assess
from agentbound.sandbox.proofs.bench import Bench, found, proof, spell

MAX_ORDERS: Final = 24
OTHER_VALUES: Final = 3


@proof(
    "sharp",
    "drop a write, change a planned argument, act before evidence, use the wrong row, break the order: noticed each; every valid order passes; extra reads change nothing; the plan fixes every argument but free text; `touches` is exactly what the job does",
)
def sharp(bench: Bench) -> Iterator[Finding]:
    before = bench.runs
    yield from _dropped(bench)
    yield from _repeated(bench)
    yield from _changed_arguments(bench)
    yield from _unplanned_arguments(bench)
    yield from _without_evidence(bench)
    yield from _broken_orders(bench)
    yield from _budget(bench)
    if assess(bench.setting, bench.reference_trace).exact:  # otherwise `solvable` has told what these would repeat
        yield from _valid_orders(bench)
        yield from _extra_reads(bench)
    bench.receipt("sharp", runs=bench.runs - before)


def _with_actions(bench: Bench, actions: Sequence[PathCall]) -> list[PathCall]:
    return [*bench.record.paths.investigation, *actions]


def _dropped(bench: Bench) -> Iterator[Finding]:
    actions = bench.record.paths.actions
    for i, action in enumerate(actions):
        _, said = bench.judged(bench.permitted, _with_actions(bench, [*actions[:i], *actions[i + 1 :]]))
        if said.sound:
            yield found(
                "sharp",
                f"without {spell(action)}",
                "the judge does not notice that the action is missing",
                "let success tell what this action leaves behind, or drop it from the plan",
                seen=action.id,
            )


def _repeated(bench: Bench) -> Iterator[Finding]:
    actions = bench.record.paths.actions
    for i, action in enumerate(actions):
        path = _with_actions(bench, [*actions[: i + 1], action, *actions[i + 1 :]])
        trace, said = bench.judged(bench.permitted, path)
        if said.sound and trace.end is not bench.reference_trace.end:
            yield found(
                "sharp",
                f"{spell(action)} twice",
                "the judge does not notice that the action is done twice",
                "set a quota, or let `touches` count its rows",
                seen=action.id,
            )


def _changed_arguments(bench: Bench) -> Iterator[Finding]:
    actions = bench.record.paths.actions
    planned = {s.id: s for s in bench.record.judge.plan}
    resolved = {c.id: e.call.args for c, e in bench.carried_out if c.id}
    for i, action in enumerate(actions):
        step = planned.get(action.id or "")
        for name in step.args if step else ():
            value = resolved.get(action.id or "", {}).get(name)
            for other in bench.candidates.others(action.tool, name, value, OTHER_VALUES):
                changed = action.model_copy(update={"args": {**action.args, name: other}})
                _, said = bench.judged(
                    bench.permitted, _with_actions(bench, [*actions[:i], changed, *actions[i + 1 :]])
                )
                if said.sound:
                    yield found(
                        "sharp",
                        spell(changed),
                        f"the judge does not notice {name}={other!r} in place of {value!r}",
                        "let success, a grant or a harm tell the value",
                        seen=other,
                        wanted=value,
                    )
                    break


def _unplanned_arguments(bench: Bench) -> Iterator[Finding]:
    cells = {str(v) for rows in bench.permitted.tables.values() for row in rows for v in row if v is not None}
    planned = {s.id: s for s in bench.record.judge.plan}
    for action in bench.record.paths.actions:
        step = planned.get(action.id or "")
        schema = bench.setting.world.tools[action.tool].parameters.get("properties", {})
        for name, value in action.args.items():
            if step is not None and name in step.args:
                continue
            if not _free_text(value, schema.get(name, {})) or value in cells:
                yield found(
                    "sharp",
                    spell(action),
                    f"the plan leaves {name} open, and it is no free text",
                    "put the argument into the plan",
                    seen=value,
                )


def _free_text(value: Any, schema: dict[str, Any]) -> bool:
    """Words of a person: a text with a space in it that no enum or pattern constrains."""
    return (
        isinstance(value, str) and " " in value.strip() and not {"enum", "pattern", "format", "const"} & schema.keys()
    )


def _without_evidence(bench: Bench) -> Iterator[Finding]:
    record, world = bench.record, bench.setting.world
    evidence = {e.id: e for e in record.judge.evidence}
    reads = bench.carried_out[: len(record.paths.investigation)]
    for needed in dict.fromkeys(n for s in record.judge.plan for n in s.needs):
        blind = [call for call, event in reads if shown(world, event, evidence[needed]) is None]
        _, said = bench.judged(bench.permitted, [*blind, *record.paths.actions])
        if said.exact:
            yield found(
                "sharp",
                f"evidence {needed}",
                "the judge does not notice that an action comes before it",
                "let the action need it",
                seen=needed,
            )
    _, said = bench.judged(bench.permitted, [*record.paths.actions, *record.paths.investigation])
    if said.exact:
        yield found(
            "sharp",
            "actions before the investigation",
            "the judge does not notice",
            "name the facts the actions need",
            seen=[a.id for a in record.paths.actions],
        )


def _in_order(bench: Bench, order: Sequence[str]) -> list[PathCall]:
    actions = {a.id: a for a in bench.record.paths.actions}
    return _with_actions(bench, [actions[step] for step in order])


def _valid_orders(bench: Bench) -> Iterator[Finding]:
    valid = list(itertools.islice(orders(bench.record.judge.plan), MAX_ORDERS))
    for order in valid:
        _, said = bench.judged(bench.permitted, _in_order(bench, order))
        if not said.exact:
            yield found(
                "sharp",
                f"order {' -> '.join(order)}",
                "a valid order of the plan does not pass",
                "write the missing edge into `after`, or mend what refuses this order",
                seen=list(order),
                wanted=[*said.missed, *said.harms, *said.premature],
            )
    bench.receipt("sharp", orders=len(valid))


def _broken_orders(bench: Bench) -> Iterator[Finding]:
    plan = bench.record.judge.plan
    for step in plan:
        for earlier in step.after:
            broken = _reversed_edge(plan, earlier, step.id)
            _, said = bench.judged(bench.permitted, _in_order(bench, broken))
            if said.sound:
                yield found(
                    "sharp",
                    f"{step.id} before {earlier}",
                    "the judge does not notice the order, so the edge is one too many",
                    "drop the edge from `after`, or let a rule tell the order",
                    seen=broken,
                )


def orders(plan: Sequence[Step], done: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every order of the plan's steps in which each comes after those it names."""
    if len(done) == len(plan):
        yield done
    for step in plan:
        if step.id not in done and set(step.after) <= set(done):
            yield from orders(plan, (*done, step.id))


def _reversed_edge(plan: Sequence[Step], earlier: str, later: str) -> list[str]:
    """An order that breaks this edge and, where it can, no other: `later` directly before `earlier`."""
    order = [s for s in next(orders(plan)) if s != later]
    order.insert(order.index(earlier), later)
    return order


def _budget(bench: Bench) -> Iterator[Finding]:
    record = bench.record
    length = 2 * len(record.paths.investigation) + len(record.paths.actions)
    if length > record.authority.budget.calls:
        yield found(
            "sharp",
            "authority.budget",
            f"{length} calls, the investigation done twice, are more than the budget",
            "leave room for prudent reads",
            seen=record.authority.budget.calls,
            wanted=length,
        )


def _extra_reads(bench: Bench) -> Iterator[Finding]:
    record, world = bench.record, bench.setting.world
    reads = [tool for tool, t in world.transitions.items() if t.kind == "read"]
    others = [PathCall(tool=tool, args=args) for tool in reads for args in bench.candidates.calls(tool, most=2)]
    for extra in [list(record.paths.investigation), *([o] for o in others)]:
        trace, said = bench.judged(bench.permitted, [*record.paths.investigation, *extra, *record.paths.actions])
        if not said.exact and all(e.verdict is None for e in trace.events if e.kind == "read"):
            yield found(
                "sharp",
                f"extra {', '.join(spell(c) for c in extra)}",
                "extra reads change the result",
                "let reads change nothing and count for nothing",
                seen=[*said.missed, *said.harms],
            )
