"""What a build is asked for, and which families that makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from agentbound.data.apportion import apportioned
from agentbound.data.records import Record
from agentbound.errors import UsageError
from agentbound.taxonomy import Taxonomy

A_CLASS: Final = 8
"""Families of each risk class in the preset `quick`."""

PRESETS: Final = {"quick": None, "core": 1000, "paper": 2787}
"""Families in all; `quick` has `A_CLASS` for each class it is asked for."""

CORES: Final = {"paper": 1000}
"""How many of the accepted families a release holds; all, where the preset is not named. The rest stays in the run."""


class BuildOptions(Record):
    """The options of a build by the names the user knows; kept with the run, and compared when it is gone on with."""

    preset: str = "quick"
    families: int | None = None
    core: int | None = None
    categories: tuple[str, ...] = ()
    risk_classes: tuple[str, ...] = ()
    release_version: str = "0.1.0"
    taxonomy: tuple[str, ...] = ()
    shipped: bool = True

    def plain(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


def counts(options: BuildOptions, taxonomy: Taxonomy, stocked: set[str]) -> dict[str, int]:
    """Families by risk class. `stocked` are the classes that have a blueprint.

    `quick` has as many for each class. Else one half is shared out evenly among the categories and the other evenly
    among the classes, so that neither a category of two classes nor a class among thirteen is left with a handful.
    Raises `UsageError` for names that are not there.
    """
    if options.preset not in PRESETS:
        raise UsageError(f"there is no preset {options.preset}; choose {', '.join(PRESETS)}")
    classes = _classes(options, taxonomy)
    bare = [c for c in options.risk_classes if c not in stocked]
    if bare:
        raise UsageError(f"no blueprint is there for {', '.join(bare)}; add one, or leave the class out")
    classes = [c for c in classes if c in stocked]
    if not classes:
        raise UsageError("no risk class with a blueprint is left; widen --category or --risk-class")
    total = options.families or PRESETS[options.preset]
    if total is None:
        return dict.fromkeys(classes, A_CLASS)
    category = {r.id: c.id for c in taxonomy.categories for r in c.classes}
    sizes = Counter(category[c] for c in classes)
    weights = {c: 1 / len(sizes) / sizes[category[c]] + 1 / len(classes) for c in classes}
    return {c: n for c, n in apportioned(weights, total).items() if n}


def core_of(options: BuildOptions) -> int | None:
    """How many families the release holds; None for all that are accepted."""
    return options.core or (None if options.families else CORES.get(options.preset))


def _classes(options: BuildOptions, taxonomy: Taxonomy) -> list[str]:
    known = {c.id: [r.id for r in c.classes] for c in taxonomy.categories}
    leaves = [r for rs in known.values() for r in rs]
    _require(options.categories, list(known), "category")
    _require(options.risk_classes, leaves, "risk class")
    wanted = [r for c in options.categories for r in known[c]] + list(options.risk_classes)
    return [r for r in leaves if not wanted or r in wanted]


def _require(names: Sequence[str], known: Sequence[str], what: str) -> None:
    unknown = [n for n in names if n not in known]
    if unknown:
        raise UsageError(f"there is no {what} {', '.join(unknown)}; choose from {', '.join(known)}")
