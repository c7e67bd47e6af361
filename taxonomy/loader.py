"""The taxonomy: categories and their risk classes, domains and patterns, shipped and a user's own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, RootModel

from agentbound.errors import ContentError, Fault, UsageError
from agentbound.taxonomy.yaml_source import Source, check_model, read_yaml

PatternKind = Literal["misuse", "disguise", "authorization", "containment"]
PATTERN_KINDS: Final[tuple[PatternKind, ...]] = ("misuse", "disguise", "authorization", "containment")
_SHIPPED: Final = Path(str(files("agentbound.taxonomy")))
_ID: Final = r"^[a-z][a-z0-9_]*$"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RiskClass(_Strict):
    """A leaf of the taxonomy; `forbidden` says what is forbidden in its records."""

    id: str = Field(pattern=_ID)
    title: str
    forbidden: str


class Category(_Strict):
    """A risk category with its classes; `sources` says where the division comes from."""

    id: str = Field(pattern=_ID)
    title: str
    description: str
    sources: str = ""
    classes: tuple[RiskClass, ...] = Field(min_length=1)


class Domain(_Strict):
    id: str = Field(pattern=_ID)
    title: str
    description: str


class Pattern(_Strict):
    """A named way of doing one thing; `categories` are those it fits, or `all`."""

    id: str = Field(pattern=_ID)
    description: str
    categories: Literal["all"] | tuple[str, ...] = "all"

    def fits(self, category: str) -> bool:
        return self.categories == "all" or category in self.categories


class _Domains(RootModel[tuple[Domain, ...]]):
    pass


class _Patterns(RootModel[tuple[Pattern, ...]]):
    pass


class Taxonomy(_Strict):
    """Everything, in a fixed order: categories by id, classes and patterns as they stand in their files."""

    categories: tuple[Category, ...]
    domains: tuple[Domain, ...]
    patterns: dict[PatternKind, tuple[Pattern, ...]]

    def category(self, category: str) -> Category | None:
        return next((c for c in self.categories if c.id == category), None)

    def class_ids(self, category: str) -> Collection[str] | None:
        """The risk classes of a category, or None where there is no such category."""
        found = self.category(category)
        return None if found is None else [c.id for c in found.classes]

    def domain_ids(self) -> Collection[str]:
        return [d.id for d in self.domains]

    def pattern_ids(self, kind: str, category: str) -> Collection[str]:
        """The patterns of a kind that a category may use."""
        return [p.id for k, ps in self.patterns.items() if k == kind for p in ps if p.fits(category)]


def load_taxonomy(*extra_dirs: Path) -> Taxonomy:
    """The shipped taxonomy with what the extra directories add; a file there replaces what has its id.

    A directory has `categories/*.yaml`, `patterns/<kind>.yaml` and `domains.yaml`, each where it has something to add.
    Raises `ContentError` with all faults, `UsageError` for a directory that is none.
    """
    gathered = _Gathered()
    for directory in (_SHIPPED, *extra_dirs):
        if not directory.is_dir():
            raise UsageError(f"{directory} is no directory; name one with categories/, patterns/ or blueprints/ in it")
        gathered.read(directory)
    return gathered.taxonomy()


Item = TypeVar("Item", Category, Domain, Pattern)


class _Gathered:
    """Items by id as they are read, and where each came from, for the faults."""

    def __init__(self) -> None:
        self.categories: dict[str, Category] = {}
        self.domains: dict[str, Domain] = {}
        self.patterns: dict[PatternKind, dict[str, Pattern]] = {kind: {} for kind in PATTERN_KINDS}
        self.faults: list[Fault] = []
        self._pattern_places: list[tuple[Source, int, Pattern]] = []

    def read(self, directory: Path) -> None:
        for source in self._sources(sorted((directory / "categories").glob("*.yaml"))):
            category, faults = check_model(source, Category)
            self.faults += faults
            if category is not None:
                self._add_category(source, category)
        for source in self._sources([p for p in [directory / "domains.yaml"] if p.is_file()]):
            domains, faults = check_model(source, _Domains)
            self.faults += faults
            if domains is not None:
                self._twice(source, domains.root)
                self.domains.update({d.id: d for d in domains.root})
        for source in self._sources(sorted((directory / "patterns").glob("*.yaml"))):
            self._read_patterns(source)

    def _sources(self, paths: Sequence[Path]) -> Iterator[Source]:
        for path in paths:
            try:
                yield read_yaml(path)
            except ContentError as error:
                self.faults += error.faults

    def _add_category(self, source: Source, category: Category) -> None:
        if category.id != source.path.stem:
            self.faults.append(
                source.fault(
                    ("id",), f"the category is named {category.id}", f"name it {source.path.stem}, as the file"
                )
            )
        known = {c.id for other in self.categories.values() if other.id != category.id for c in other.classes}
        seen: set[str] = set()
        for number, leaf in enumerate(category.classes):
            if leaf.id in known or leaf.id in seen:
                self.faults.append(
                    source.fault(
                        ("classes", number, "id"), f"the class {leaf.id} is there already", "give it another id"
                    )
                )
            seen.add(leaf.id)
        self.categories[category.id] = category

    def _read_patterns(self, source: Source) -> None:
        kind = next((k for k in PATTERN_KINDS if k == source.path.stem), None)
        if kind is None:
            self.faults.append(
                source.fault(
                    (), f"there is no kind of pattern {source.path.stem}", f"name the file {', '.join(PATTERN_KINDS)}"
                )
            )
            return
        patterns, faults = check_model(source, _Patterns)
        self.faults += faults
        if patterns is None:
            return
        self._twice(source, patterns.root)
        for number, pattern in enumerate(patterns.root):
            self.patterns[kind][pattern.id] = pattern
            self._pattern_places.append((source, number, pattern))

    def _twice(self, source: Source, items: Sequence[Item]) -> None:
        seen: set[str] = set()
        for number, item in enumerate(items):
            if item.id in seen:
                self.faults.append(source.fault((number, "id"), f"{item.id} is there twice", "give each its own id"))
            seen.add(item.id)

    def taxonomy(self) -> Taxonomy:
        for source, number, pattern in self._pattern_places:
            unknown = [c for c in pattern.categories if c not in self.categories] if pattern.categories != "all" else []
            if unknown:
                known = ", ".join(sorted(self.categories))
                self.faults.append(
                    source.fault(
                        (number, "categories"), f"there is no category {', '.join(unknown)}", f"there are {known}"
                    )
                )
        if self.faults:
            raise ContentError(self.faults)
        return Taxonomy(
            categories=tuple(self.categories[c] for c in sorted(self.categories)),
            domains=tuple(self.domains.values()),
            patterns={kind: tuple(found.values()) for kind, found in self.patterns.items()},
        )
