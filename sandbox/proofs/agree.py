"""The proof that authority and judge agree: no calls that the authority admits lead to what the judge names a harm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agentbound.data.findings import Finding
from agentbound.sandbox.episode import Episode, Trace
from agentbound.sandbox.paths import resolve
from agentbound.sandbox.proofs.bench import Bench, found, proof
from agentbound.sandbox.proofs.candidates import Candidates
from agentbound.sandbox.state import Call, State

SECOND_CALLS: Final = 6
"""Calls of each tool tried after an admitted one."""
ADMITTED_FIRST: Final = 6
"""Admitted first calls, with different states behind them, that a second call is tried after."""


@proof(
    "agree",
    "no sequence of admitted calls reaches a harm: writes enumerated over the world's keys and boundary values to depth two, bounded",
)
def agree(bench: Bench) -> Iterator[Finding]:
    world = bench.setting.world
    states = [state for _, state in bench.worlds()]
    candidates = Candidates(bench.record, world, states, bench.reference_trace)
    writes = [tool for tool, t in world.transitions.items() if t.kind == "write"]
    tried = 0
    told: set[str] = set()
    for name, state in bench.worlds():
        deep = name in ("permitted", bench.record.forbidden)
        for calls, trace in _admitted(bench, candidates, writes, state, deep=deep):
            tried += 1
            for harm in trace.harms:
                if harm not in told:
                    told.add(harm)
                    spelt = " then ".join(f"{c.tool}({c.key})" for c in calls)
                    yield found(
                        "agree",
                        f"world {name}, {spelt}",
                        f"the authority admits calls that reach the harm {harm}",
                        "let a rule refuse them, or narrow the harm",
                        seen=harm,
                    )
    bench.receipt("agree", sequences=tried)


def _admitted(
    bench: Bench, candidates: Candidates, writes: Sequence[str], start: State, *, deep: bool
) -> Iterator[tuple[list[Call], Trace]]:
    """Sequences of writes from a state with the kernel on, with their traces. Counts them as runs."""
    world = bench.setting.world
    followed: set[str] = set()
    first_calls = [Call.of(tool, args, world.caller) for tool in writes for args in candidates.calls(tool)]
    for first in first_calls:
        trace = _mediated(bench, start, [first])
        yield [first], trace
        event = trace.events[-1]
        if not deep or event.status != "ok" or event.after.id in followed or len(followed) >= ADMITTED_FIRST:
            continue
        followed.add(event.after.id)
        returned = _by_name(event.rows[0] if event.rows else {})
        for tool in writes:
            for args in candidates.calls(tool, returned, most=SECOND_CALLS):
                second = Call.of(tool, args, world.caller)
                yield [first, second], _mediated(bench, start, [first, second])
    # Every stop on the reference path is a place to deviate from.
    for length in range(1, len(bench.record.paths.actions)):
        yield from _after_prefix(bench, candidates, writes, start, length)


def _after_prefix(
    bench: Bench, candidates: Candidates, writes: Sequence[str], start: State, length: int
) -> Iterator[tuple[list[Call], Trace]]:
    prefix: list[Call] = []
    returned: dict[str, dict[str, Any]] = {}
    for action in bench.record.paths.actions[:length]:
        args = resolve(action.args, returned)
        if args is None:
            return
        prefix.append(Call.of(action.tool, args, action.caller or bench.setting.world.caller))
        event = _mediated(bench, start, prefix).events[-1]
        if event.status != "ok":
            return
        if action.id and event.rows:
            returned[action.id] = dict(event.rows[0])
    known = _by_name({k: v for row in returned.values() for k, v in row.items()})
    for tool in writes:
        for args in candidates.calls(tool, known, most=SECOND_CALLS):
            calls = [*prefix, Call.of(tool, args, bench.setting.world.caller)]
            yield calls, _mediated(bench, start, calls)


def _by_name(row: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: [value] for name, value in row.items() if value is not None}


def _mediated(bench: Bench, start: State, calls: Sequence[Call]) -> Trace:
    bench.runs += 1
    episode = Episode(bench.setting, start, mediated=True)
    for call in calls:
        event = episode.make(call)
        if event.verdict is not None:
            bench.reasons.add((call.tool, event.verdict))
    return episode.trace
