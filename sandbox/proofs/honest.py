"""The proof that reads are honest: they show rows as they are, and all that they say they show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentbound.data.findings import Finding
from agentbound.data.records import Row
from agentbound.sandbox.episode import Setting
from agentbound.sandbox.evidence import filtered_by
from agentbound.sandbox.paths import run_path
from agentbound.sandbox.proofs.bench import Bench, found, proof
from agentbound.sandbox.state import Call, State
from agentbound.sandbox.world import World


@proof("honest", "a read shows rows as they are and all of the scope it declares")
def honest(bench: Bench) -> Iterator[Finding]:
    world = bench.setting.world
    states = [state for _, state in bench.worlds()]
    tried = 0
    told: set[tuple[str, str]] = set()
    for tool, transition in world.transitions.items():
        if transition.kind != "read":
            continue
        for args in bench.candidates.calls(tool, most=6):
            call = Call.of(tool, args, world.caller)
            if world.fault(call) is not None:
                continue
            for state in states:
                tried += 1
                for what, mend in _lies(world, state, call):
                    if (tool, what) not in told:
                        told.add((tool, what))
                        yield found("honest", f"{tool}({call.key})", what, mend, seen=tool)
    yield from _stored_order(bench)
    bench.receipt("honest", reads=tried)


def _stored_order(bench: Bench) -> Iterator[Finding]:
    """What a world does depends on its rows, not on the order in which the record happens to list them."""
    rows = {table: content[::-1] for table, content in bench.record.world.rows.items()}
    record = bench.record.model_copy(update={"world": bench.record.world.model_copy(update={"rows": rows})})
    other = Setting.of(record, like=bench.setting.world)
    mine = {(e.call.tool, e.call.key): e.rows for e in bench.reference_trace.events}
    again = run_path(other, other.world.base, bench.path, mediated=False)
    theirs = {(e.call.tool, e.call.key): e.rows for e in again.events}
    world = bench.setting.world
    for tool, transition in world.transitions.items():
        for args in bench.candidates.calls(tool, most=2) if transition.kind == "read" else ():
            call = Call.of(tool, args, world.caller)
            if world.fault(call) is None:
                mine[tool, call.key] = world.perform(bench.permitted, call).rows
                theirs[tool, call.key] = other.world.perform(other.world.base, call).rows
    told: set[str] = set()
    for (tool, key), rows_seen in mine.items():
        if theirs.get((tool, key)) != rows_seen and tool not in told:
            told.add(tool)
            yield found(
                "honest",
                f"{tool}({key})",
                "what it gives depends on the order in which the rows were stored",
                "ORDER BY a key, also in subqueries that take one row or join many",
                seen=tool,
            )


def _lies(world: World, state: State, call: Call) -> Iterator[tuple[str, str]]:
    outcome = world.perform(state, call)
    if outcome.status != "ok":
        return
    observed_tables = world.transitions[call.tool].observes
    owners = _owners(world, outcome.rows, [(o.table, o.key) for o in observed_tables])
    for observes in observed_tables:
        actual = {r[world.database.primary_keys[observes.table]]: r for r in world.rows(state, observes.table)}
        seen_keys = [row.get(observes.key) for row in outcome.rows]
        if any(observes.key not in row for row in outcome.rows):
            yield (
                f"no column {observes.key} in the rows, which `observes` names",
                "select the primary key under that name",
            )
            continue
        for row in outcome.rows:
            key = row[observes.key]
            if key is None:
                continue  # the row of an outer join that is not there
            if key not in actual:
                yield (
                    f"it shows a row {key} of {observes.table} that is not there",
                    "select rows of the table, under their own keys",
                )
                continue
            for column, table in owners.items():
                if table == observes.table and row[column] != actual[key][column]:
                    yield (
                        f"{observes.table}.{column} of {key} is shown as {row[column]!r} and is {actual[key][column]!r}",
                        "show the column as it is, or give the reckoned value another name",
                    )
        if observes.scope is not None:
            filters = filtered_by(observes, call)
            due = {k for k, r in actual.items() if all(r.get(c) == v for c, v in filters.items())}
            if due != set(seen_keys):
                missing = sorted(map(str, due - set(seen_keys)))
                yield (
                    f"{observes.table} in scope {filters}: rows {missing or 'of another scope'} {'left out' if missing else 'shown'}",
                    "show all rows of the scope and no others, or declare another scope",
                )
    yield from _borrowed(world, state, call, outcome.rows, owners, {o.key for o in observed_tables})


def _owners(world: World, rows: Sequence[Row], observed: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Column of the observation to the observed table it belongs to: the first that has one of that name."""
    owners: dict[str, str] = {}
    keys = {key for _, key in observed}
    for column in rows[0] if rows else ():
        if column in keys:
            continue
        for table, _ in observed:
            if column in world.database.columns[table] and column != world.database.primary_keys[table]:
                owners[column] = table
                break
    return owners


def _borrowed(
    world: World, state: State, call: Call, rows: Sequence[Row], owners: dict[str, str], keys: set[str]
) -> Iterator[tuple[str, str]]:
    """A column of no observed table, but named like one of a table the statement reads, must hold values of that table."""
    statement = world.database.statement(world.transitions[call.tool].sql[-1], "read")
    read = {t for t, _ in statement.reads if t in world.database.columns}
    for column in rows[0] if rows else ():
        if column in owners or column in keys:
            continue
        sources = [t for t in read if column in world.database.columns[t]]
        if not sources:
            continue
        actual = {r[column] for t in sources for r in world.rows(state, t)} | {None}
        wrong = next((row[column] for row in rows if row[column] not in actual), None)
        if wrong is not None:
            yield (
                f"{column} is shown as {wrong!r}, which no {' or '.join(sorted(sources))} has",
                "show the column as it is, or give the reckoned value another name",
            )
