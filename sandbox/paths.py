"""Running a path: calls whose arguments may be values that earlier calls returned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentbound.data.records import Arguments, PathCall
from agentbound.sandbox.episode import Episode, Setting, Trace
from agentbound.sandbox.state import Call, State


def is_reference(value: Any) -> bool:
    """Whether an argument is `{"from": step, "field": column}`."""
    return (
        isinstance(value, dict)
        and value.keys() == {"from", "field"}
        and all(isinstance(name, str) for name in value.values())
    )


def resolve(args: Arguments, returned: Mapping[str, Mapping[str, Any]]) -> Arguments | None:
    """The arguments with references replaced by values returned, or None where one gave no value."""
    resolved: Arguments = {}
    for name, value in args.items():
        if is_reference(value):
            source = returned.get(value["from"], {})
            if source.get(value["field"]) is None:
                return None
            resolved[name] = source[value["field"]]
        else:
            resolved[name] = value
    return resolved


def run_path(setting: Setting, start: State, path: Iterable[PathCall], *, mediated: bool) -> Trace:
    """Run calls in order. A call that waits for a value from a call that gave none is left out."""
    episode = Episode(setting, start, mediated=mediated)
    returned: dict[str, Mapping[str, Any]] = {}
    for step in path:
        args = resolve(step.args, returned)
        if args is None:
            continue
        event = episode.make(Call.of(step.tool, args, step.caller or setting.world.caller))
        if step.id is not None and event.status == "ok" and event.rows:
            returned[step.id] = event.rows[0]
    return episode.trace


def reference(investigation: Sequence[PathCall], actions: Sequence[PathCall]) -> list[PathCall]:
    """The reference path: the investigation, then the actions."""
    return [*investigation, *actions]
