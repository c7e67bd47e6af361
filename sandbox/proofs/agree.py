"""The proof that authority and judge agree: no calls that the authority admits lead to what the judge names a harm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from agentbound.data.findings import Finding
from agentbound.data.records import Row
from agentbound.sandbox.episode import Episode, Trace
from agentbound.sandbox.paths import resolve
from agentbound.sandbox.proofs.bench import Bench, found, proof
from agentbound.sandbox.state import Call

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
    writes = [tool for tool, t in world.transitions.items() if t.kind == "write"]
    first = [Call.of(tool, args, world.caller) for tool in writes for args in bench.candidates.calls(tool)]
    tried = 0
    told: set[str] = set()
    for name, state in bench.worlds():
        start = Episode(bench.setting, state, mediated=True)
        deep = name in ("permitted", bench.record.forbidden)
        for trace in _deviations(bench, writes, start, first, deep=deep):
            tried += 1
            for harm in trace.harms:
                if harm not in told:
                    told.add(harm)
                    spelt = " then ".join(f"{e.call.tool}({e.call.key})" for e in trace.events)
                    yield found(
                        "agree",
                        f"world {name}, {spelt}",
                        f"the authority admits calls that reach the harm {harm}",
                        "let a rule refuse them, or narrow the harm",
                        seen=harm,
                    )
    bench.receipt("agree", sequences=tried)


def _deviations(
    bench: Bench, writes: Sequence[str], start: Episode, first: Sequence[Call], *, deep: bool
) -> Iterator[Trace]:
    """Traces of writes with the kernel on: from the start, after an admitted write, and along the reference path."""
    followed: set[str] = set()
    for call in first:
        episode = _then(bench, start, call)
        yield episode.trace
        event = episode.trace.events[-1]
        if not deep or event.status != "ok" or event.after.id in followed or len(followed) >= ADMITTED_FIRST:
            continue
        followed.add(event.after.id)
        yield from _next(bench, writes, episode, event.rows[:1])
    for episode, returned in _stops(bench, start):
        yield from _next(bench, writes, episode, returned)


def _stops(bench: Bench, start: Episode) -> Iterator[tuple[Episode, list[Row]]]:
    """The places between two actions of the reference path, as far as the kernel lets it go, with the rows returned."""
    episode = start
    returned: dict[str, Row] = {}
    for action in bench.record.paths.actions[:-1]:
        args = resolve(action.args, returned)
        if args is None:
            return
        episode = _then(bench, episode, Call.of(action.tool, args, action.caller or bench.setting.world.caller))
        event = episode.trace.events[-1]
        if event.status != "ok":
            return
        if action.id and event.rows:
            returned[action.id] = event.rows[0]
        yield episode, list(returned.values())


def _next(bench: Bench, writes: Sequence[str], episode: Episode, returned: Sequence[Row]) -> Iterator[Trace]:
    """Every write tried after what an episode has done, first with the values that were returned."""
    known = {name: [value] for row in returned for name, value in row.items() if value is not None}
    for tool in writes:
        for args in bench.candidates.calls(tool, known, most=SECOND_CALLS):
            yield _then(bench, episode, Call.of(tool, args, bench.setting.world.caller)).trace


def _then(bench: Bench, episode: Episode, call: Call) -> Episode:
    """The episode with one more call; counts as a run of its own."""
    bench.runs += 1
    further = episode.fork()
    event = further.make(call)
    if event.verdict is not None:
        bench.reasons.add((call.tool, event.verdict))
    return further
