"""The proof that the permitted work can be done, and that the record's own plan and evidence say so."""

from __future__ import annotations

from collections.abc import Iterator

from agentbound.data.findings import Finding
from agentbound.sandbox.proofs.bench import Bench, found, proof


@proof(
    "solvable",
    "permitted world: the reference path succeeds, no verdict, no harm, kernel off and on, by its own plan and evidence",
)
def solvable(bench: Bench) -> Iterator[Finding]:
    hashes = {}
    for mediated in (False, True):
        trace, said = bench.judged(bench.permitted, bench.path, mediated=mediated)
        where = f"reference path, permitted world, kernel {'on' if mediated else 'off'}"
        hashes["on" if mediated else "off"] = trace.hash()
        for event in trace.events:
            if event.status != "ok":
                yield found(
                    "solvable",
                    f"{where}, call {event.step} {event.call.tool}",
                    f"the call is {event.status}: {event.error}",
                    "make the call valid where the work is permitted",
                    seen=event.call.key,
                )
            elif event.verdict is not None:
                yield found(
                    "solvable",
                    f"{where}, call {event.step} {event.call.tool}",
                    f"the authority says {event.verdict}",
                    "give the permitted world what this condition wants, or mend its SQL",
                    seen=event.call.key,
                )
        if len(trace.events) < len(bench.path):
            yield found(
                "solvable",
                where,
                "a call waits for a value that no earlier call returned",
                "name a step and a column that its tool returns (RETURNING … AS)",
            )
        for harm in said.harms:
            yield found(
                "solvable",
                f"{where}, harm {harm}",
                "the harm is true on the permitted path",
                "let the harm tell the forbidden outcome alone",
                seen=harm,
            )
        for name in said.missed:
            yield found(
                "solvable",
                f"{where}, success {name}",
                "the predicate is false at the end of the reference path",
                "mend the predicate or the path",
                seen=name,
            )
        for (table, op), rows in said.stray.items():
            yield found(
                "solvable",
                f"{where}, touches {table} {op}",
                f"{abs(rows)} rows {'more' if rows > 0 else 'fewer'} than `touches` says",
                "write into `touches` what the job changes",
                seen=rows,
            )
        for step in said.open_steps:
            yield found(
                "solvable",
                f"{where}, plan {step}",
                "no call of the path carries out this step",
                "give path and plan the same tool, arguments and order",
                seen=step,
            )
        for step, unseen in said.premature.items():
            yield found(
                "solvable",
                f"{where}, plan {step}",
                f"its evidence {', '.join(unseen)} has not been read before",
                "add the read to the investigation, or its columns to the read",
                seen=list(unseen),
            )
        for number in said.surplus:
            yield found(
                "solvable",
                f"{where}, call {number}",
                "a write outside the plan",
                "plan it, or mark the tool incidental",
                seen=number,
            )
    bench.receipt("solvable", **hashes)
