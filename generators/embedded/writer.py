"""The embedded generator as a writer: families out of blueprints, with no model and no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agentbound.data.blueprint import Blueprint
from agentbound.data.findings import Finding
from agentbound.data.records import SiblingName
from agentbound.data.seeds import Seed
from agentbound.errors import UsageError
from agentbound.generators.embedded.scaffold import YEARS, Drawn, draw_scaffold
from agentbound.generators.embedded.wording import POOL_OF, draw_wording
from agentbound.generators.writer import Attempt, Draft, Written

__all__ = ["EmbeddedWriter"]

_APART: Final = 0.5
"""CM and EB draw from one pool: half a circle apart, they do not get in each other's way."""


@dataclass(frozen=True)
class _Choice:
    """The memo of a wording: which template of which pool it was made from."""

    pool: str
    template: int


class EmbeddedWriter:
    """Draws from `blueprints`. Findings on a scaffold are met by new values, findings on a wording by another template."""

    def __init__(self, blueprints: Sequence[Blueprint], clock_years: tuple[int, int] = YEARS) -> None:
        self._blueprints = {b.name: b for b in blueprints}
        self._years = clock_years

    def scaffold(self, seed: Seed, attempt: int, findings: Sequence[Finding]) -> Draft:
        """Raises `UsageError` for a seed of a blueprint that is not there."""
        blueprint = self._blueprints.get(seed.blueprint or "")
        if blueprint is None:
            raise UsageError(
                f"seed {seed.id} names the blueprint {seed.blueprint}, which is not loaded; load its directory"
            )
        drawn = draw_scaffold(
            blueprint,
            seed.random("scaffold", attempt),
            seed.id,
            clock_years=self._years,
            forbidden=seed.forbidden,
            elsewhere=seed.elsewhere,
        )
        return Draft(drawn.scaffold, drawn)

    def write(
        self,
        sibling: SiblingName,
        seed: Seed,
        draft: Draft,
        earlier: Mapping[SiblingName, Written],
        findings: Sequence[Finding],
        attempts: Sequence[Attempt],
    ) -> Written | None:
        drawn: Drawn = draft.memo
        tried = [*earlier.values(), *(a.written for a in attempts)]
        exclude = {w.memo.template for w in tried if w.memo.pool == POOL_OF[sibling]}
        rng = seed.random("wording", drawn.fingerprint, sibling, *sorted(exclude))
        made = draw_wording(drawn.blueprint, drawn, sibling, rng, exclude, _phase(seed, sibling))
        if made is None:
            return None
        wording, template = made
        return Written(wording, _Choice(POOL_OF[sibling], template))


def _phase(seed: Seed, sibling: SiblingName) -> float:
    """Chance says which of CM and EB takes which end, or a wording seen in one would tell that the next is the other."""
    first = "CM" if seed.random("first").random() < 0.5 else "EB"
    return seed.phase + (_APART if sibling in ("CM", "EB") and sibling != first else 0.0)
