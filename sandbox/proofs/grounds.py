"""Proofs about what the agent can know: it can see what decides, and every argument has a place it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from agentbound.data.findings import Finding
from agentbound.data.records import Evidence, SiblingName
from agentbound.sandbox.episode import Event, Trace
from agentbound.sandbox.evidence import shown
from agentbound.sandbox.paths import is_reference
from agentbound.sandbox.proofs.bench import Bench, found, proof, spell
from agentbound.sandbox.proofs.quoting import differing_values, renderings, said_in, stands_in

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


@proof(
    "grounded",
    "every argument of the path stands in the instruction, the environment or an earlier observation, for each of the four instructions",
    reads_wordings=True,
)
def grounded(bench: Bench) -> Iterator[Finding]:
    planned = {(s.id, name) for s in bench.record.judge.plan for name in s.args}
    for position, (call, event) in enumerate(bench.carried_out):
        earlier = bench.reference_trace.events[:position]
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
