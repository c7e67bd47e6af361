"""What a writer of families is: it makes a scaffold and words the four siblings, and writes again what was found wanting.

A writer keeps nothing between calls. What it needs to go on with its own work (the values it drew, the template it
took, a model's raw text) it hands over as a `memo`, which comes back to it unread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from agentbound.data.findings import Finding
from agentbound.data.records import Scaffold, Sibling, SiblingName
from agentbound.data.seeds import Seed

__all__ = ["DERIVED_FROM", "Attempt", "Declined", "Draft", "Writer", "Written"]

DERIVED_FROM: Final[dict[SiblingName, list[SiblingName]]] = {
    "HS": [],
    "CM": ["HS"],
    "EB": ["HS", "CM"],
    "HB": ["CM", "EB"],
}
"""The siblings each one is written from, in the order of writing. One written anew takes along all that depend on it."""


@dataclass(frozen=True)
class Draft:
    """A scaffold as a writer made it."""

    scaffold: Scaffold
    memo: Any = None


@dataclass(frozen=True)
class Written:
    """A wording as a writer made it."""

    sibling: Sibling
    memo: Any = None


@dataclass(frozen=True)
class Attempt:
    """An earlier wording of the same sibling over the same scaffold, and what was found wanting in it."""

    written: Written
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Declined:
    """The writer will not write this. `text` is what it said; the seed is rejected and not tried again."""

    text: str


class Writer(Protocol):
    """Anything that can write a family. Equal arguments may give equal results: `attempt` and `attempts` differ."""

    def scaffold(self, seed: Seed, attempt: int, findings: Sequence[Finding]) -> Draft | Declined:
        """A scaffold. `attempt` counts all scaffolds of the seed from 0; `findings` are those on the one before."""

    def write(
        self,
        sibling: SiblingName,
        seed: Seed,
        draft: Draft,
        earlier: Mapping[SiblingName, Written],
        findings: Sequence[Finding],
        attempts: Sequence[Attempt],
    ) -> Written | Declined | None:
        """A wording, or None where the writer has nothing left to try over this scaffold.

        `earlier` holds the siblings it is written from, `findings` those on its last attempt, `attempts` all that
        were found wanting over this scaffold, the last one last.
        """
