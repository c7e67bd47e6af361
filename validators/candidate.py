"""The gate of one candidate: the cheap validators first, and the proofs where those find nothing."""

from __future__ import annotations

from typing import Final

from agentbound.data.findings import Finding
from agentbound.data.records import SIBLINGS, Family, Scaffold
from agentbound.sandbox.proofs import Certificate, prove, prove_scaffold, prove_wordings
from agentbound.validators import content as _content
from agentbound.validators import wording as _wording
from agentbound.validators.registry import VALIDATORS, Siblings

__all__ = ["certify", "validate"]

_REGISTERED: Final = (_content, _wording)


def validate(scaffold: Scaffold, siblings: Siblings) -> list[Finding]:
    """Findings on a candidate as far as it is written: no wording yet, some, or all four.

    A scaffold alone is proved as far as that goes; with wordings, the proofs that read them are tried on those there
    are; a whole family is left to `certify`.
    """
    findings = [f for v in VALIDATORS.values() for f in v.check(scaffold, siblings) if f.severity == "error"]
    if findings:
        return findings
    if not siblings:
        return prove_scaffold(scaffold)
    return prove_wordings(scaffold, siblings)


def certify(family: Family) -> tuple[Certificate | None, list[Finding]]:
    """All validators and all proofs over a whole family; a certificate exactly where nothing is found."""
    findings = [f for v in VALIDATORS.values() for f in v.check(family, family.siblings) if f.severity == "error"]
    missing = [s for s in SIBLINGS if s not in family.siblings]
    if findings or missing:
        return None, findings
    return prove(family)
