"""The golden families are proved, and each of the broken ones is found out by the proof that is meant for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

import broken
from agentbound.data.findings import Finding
from agentbound.sandbox.proofs import PROOFS, prove
from broken import CASES, Case
from golden import NAMES, family

FINDINGS_FILE = Path(broken.__file__).with_name("findings.json")
FINDINGS: dict[str, list[str]] = json.loads(FINDINGS_FILE.read_text(encoding="utf-8"))
"""Case to all its findings, code and place. `python tests/sandbox/proofs/test_golden.py` writes it, to be read then."""


def places_of(findings: Sequence[Finding]) -> list[str]:
    return sorted({f"{f.code} [{f.part}] {f.where}" for f in findings})


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_families_are_proved(name: str) -> None:
    certificate, findings = prove(family(name))
    assert findings == []
    assert certificate is not None
    assert list(certificate.proofs) == list(PROOFS)
    assert certificate.runs > 100


@pytest.mark.parametrize("one", CASES, ids=lambda c: f"{c.code}-{c.name}")
def test_a_broken_family_is_found_out(one: Case) -> None:
    certificate, findings = prove(one.broken())
    assert certificate is None
    places = [f.where for f in findings if f.code == one.code]
    assert any(one.where in place for place in places), [str(f) for f in findings]
    assert {f.code for f in findings} == one.found
    assert places_of(findings) == FINDINGS[one.name]


def test_every_proof_has_three_broken_families() -> None:
    counts = Counter(c.code for c in CASES)
    assert {code: counts[code] for code in [*PROOFS, "wellformed"] if counts[code] < 3} == {}
    assert sorted(FINDINGS) == sorted(c.name for c in CASES)


def test_every_proof_finds_something_that_no_other_does() -> None:
    alone = {c.code for c in CASES if c.found == {c.code}}
    assert {*PROOFS, "wellformed"} - alone == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_certificate_is_the_same_again(name: str) -> None:
    assert prove(family(name))[0] == prove(family(name))[0]


if __name__ == "__main__":
    found = {one.name: places_of(prove(one.broken())[1]) for one in CASES}
    FINDINGS_FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
