"""Proving a record: all claims tried, and a certificate with the receipts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentbound.data.canonical import digest
from agentbound.data.findings import Finding
from agentbound.data.records import Family, Record, Scaffold, Sibling, SiblingName
from agentbound.sandbox.proofs.bench import PROOFS, Bench
from agentbound.sandbox.proofs.wellformed import set_up


class Certificate(Record):
    """The receipts of a family's proofs.

    `record` is the hash of the record that was proved, `runs` the number of paths that were run, `proofs` what each
    proof counted or hashed. Equal records give equal certificates.
    """

    record: str
    runs: int
    proofs: dict[str, dict[str, Any]]


def prove(family: Family) -> tuple[Certificate | None, list[Finding]]:
    """Try every proof. There is a certificate exactly where there is no finding."""
    findings, bench = _try(family, family.siblings, reads_wordings=None)
    if findings or bench is None:
        return None, findings
    return Certificate(record=digest(family.model_dump(mode="json")), runs=bench.runs, proofs=bench.receipts), []


def prove_scaffold(scaffold: Scaffold) -> list[Finding]:
    """The proofs that need no wording, for a scaffold whose wordings are still to be written."""
    return _try(scaffold, {}, reads_wordings=False)[0]


def prove_wordings(scaffold: Scaffold, siblings: Mapping[SiblingName, Sibling]) -> list[Finding]:
    """The proofs that read wordings, over those that are there."""
    return _try(scaffold, siblings, reads_wordings=True)[0]


def _try(
    record: Scaffold, siblings: Mapping[SiblingName, Sibling], *, reads_wordings: bool | None
) -> tuple[list[Finding], Bench | None]:
    bench, findings = set_up(record, siblings)
    if bench is None:
        return findings, None
    for proof in PROOFS.values():
        if reads_wordings is None or proof.reads_wordings is reads_wordings:
            bench.receipts.setdefault(proof.code, {})
            findings.extend(proof.check(bench))
    return findings, bench
