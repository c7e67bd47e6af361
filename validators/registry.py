"""Validators of one candidate, registered at their definition.

A validator looks at a scaffold and the wordings written so far and yields findings. The gate of a candidate
(`agentbound.validators.candidate`) runs all of them, the cheap ones first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from agentbound.data.findings import Finding
from agentbound.data.records import Scaffold, Sibling, SiblingName

Siblings = Mapping[SiblingName, Sibling]
Check = Callable[[Scaffold, Siblings], Iterator[Finding]]


@dataclass(frozen=True)
class Validator:
    """A check by its code; `claim` says what must hold."""

    code: str
    claim: str
    check: Check


VALIDATORS: Final[dict[str, Validator]] = {}


def validator(code: str, claim: str) -> Callable[[Check], Check]:
    """Register a validator. A code that is taken is a mistake in the program."""

    def register(check: Check) -> Check:
        if code in VALIDATORS:
            raise RuntimeError(f"two validators are named {code}")
        VALIDATORS[code] = Validator(code, claim, check)
        return check

    return register
