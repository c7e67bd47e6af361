"""Difference from the families accepted before: no scaffold and no wording that was there already but for names and numbers.

A scaffold is compared by the hash of its structure. For wordings, MinHash with banding (rensa), so that one look costs the same however many families there are; a hit is then checked
against the shingles themselves. The two wordings of EB and CM of one family may be the same.
"""

from __future__ import annotations

from typing import Final

from rensa import RMinHash, RMinHashLSH

from agentbound.data.findings import Finding
from agentbound.data.records import SIBLINGS, Family, Scaffold, SiblingName
from agentbound.validators.facts import structure
from agentbound.validators.masking import mask, names_of, shingles
from agentbound.validators.registry import Siblings

THE_SAME: Final = 0.85
"""Jaccard similarity of masked words and word pairs from which two wordings are the same one."""

_PERMUTATIONS: Final = 64
_BANDS: Final = 16


class Accepted:
    """The structures and wordings accepted so far. Order matters: the earlier family stays, the later one is written again."""

    def __init__(self) -> None:
        self._index = RMinHashLSH(THE_SAME, _PERMUTATIONS, _BANDS)
        self._shingles: list[frozenset[str]] = []
        self._owners: list[tuple[str, str]] = []
        self._structures: dict[str, str] = {}

    def findings(self, scaffold: Scaffold, siblings: Siblings) -> list[Finding]:
        """A finding for a scaffold, and for each wording as far as they are written, that an accepted family has already."""
        found = []
        owner = self._structures.get(structure(scaffold), scaffold.family_id)
        if owner != scaffold.family_id:
            found.append(
                Finding(
                    code="difference",
                    part="scaffold",
                    where="world",
                    wrong=f"but for names, numbers and texts it is {owner}",
                    mend="draw other rows, another flip or another way of working",
                )
            )
        for sibling, text in _texts(scaffold, siblings).items():
            twin = self._twin(text, scaffold.family_id)
            if twin is not None:
                owner, its_sibling = self._owners[twin]
                found.append(
                    Finding(
                        code="difference",
                        part=sibling,
                        where=f"siblings.{sibling}.instruction",
                        wrong=f"but for names and numbers it is {its_sibling} of {owner}",
                        mend="write it another way",
                        seen=siblings[sibling].instruction,
                    )
                )
        return found

    def add(self, family: Family) -> None:
        """Take a family in."""
        self._structures.setdefault(structure(family), family.family_id)
        for sibling, text in _texts(family, family.siblings).items():
            self._index.insert(len(self._owners), _signature(text))
            self._shingles.append(text)
            self._owners.append((family.family_id, sibling))

    def _twin(self, text: frozenset[str], family_id: str) -> int | None:
        for candidate in sorted(self._index.query(_signature(text))):
            other = self._shingles[candidate]
            if self._owners[candidate][0] != family_id and len(text & other) >= THE_SAME * len(text | other):
                return int(candidate)
        return None


def _texts(scaffold: Scaffold, siblings: Siblings) -> dict[SiblingName, frozenset[str]]:
    names = names_of(scaffold)
    return {s: frozenset(shingles(mask(siblings[s].instruction, names))) for s in SIBLINGS if s in siblings}


def _signature(text: frozenset[str]) -> RMinHash:
    signature = RMinHash(_PERMUTATIONS, 1)
    signature.update(sorted(text))
    return signature
