"""The taxonomy: what ships, and what directories of a user add to it or put in its place."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, TypeVar

from pydantic import Field, RootModel

from agentbound.errors import ContentError, Fault, UsageError
from agentbound.taxonomy.records import (
    PATTERN_KINDS,
    Category,
    Domain,
    Entry,
    Id,
    Pattern,
    PatternKind,
    RiskClass,
    Text,
)
from agentbound.taxonomy.yaml_source import Source, check_model, read_yaml

__all__ = ["Taxonomy", "load_taxonomy"]

_SHIPPED: Final = Path(str(files("agentbound.taxonomy")))
_LAYOUT: Final = ("categories", "patterns", "blueprints", "domains.yaml")


class _MoreClasses(Entry):
    """A file that adds to a category there already: what it leaves out stays as it is."""

    id: Id
    title: Text | None = None
    description: Text | None = None
    sources: tuple[Text, ...] | None = None
    classes: tuple[RiskClass, ...] = Field(min_length=1)


class _Domains(RootModel[tuple[Domain, ...]]):
    pass


class _Patterns(RootModel[tuple[Pattern, ...]]):
    pass


@dataclass(frozen=True)
class Taxonomy:
    """Everything, in a fixed order: categories by id; classes, domains and patterns as they stand in their files."""

    categories: tuple[Category, ...]
    domains: tuple[Domain, ...]
    patterns: Mapping[PatternKind, tuple[Pattern, ...]]

    def category(self, category: str) -> Category | None:
        return _named(self.categories, category)

    def risk_class(self, risk_class: str) -> RiskClass | None:
        return _named([leaf for c in self.categories for leaf in c.classes], risk_class)

    def domain(self, domain: str) -> Domain | None:
        return _named(self.domains, domain)

    def pattern(self, kind: PatternKind, pattern: str) -> Pattern | None:
        return _named(self.patterns[kind], pattern)

    def class_ids(self, category: str) -> Collection[str] | None:
        """The risk classes of a category, or None where there is no such category."""
        found = self.category(category)
        return None if found is None else [c.id for c in found.classes]

    def domain_ids(self) -> Collection[str]:
        return [d.id for d in self.domains]

    def pattern_ids(self, kind: str, category: str) -> Collection[str]:
        """The patterns of a kind that a category may use; none for an unknown kind."""
        return [p.id for k, ps in self.patterns.items() if k == kind for p in ps if p.fits(category)]


Item = TypeVar("Item", Category, RiskClass, Domain, Pattern)


def _named(items: Sequence[Item], wanted: str) -> Item | None:
    return next((item for item in items if item.id == wanted), None)


def load_taxonomy(*extra_dirs: Path) -> Taxonomy:
    """The shipped taxonomy with what the extra directories add, in their order.

    A directory has `categories/<id>.yaml`, `patterns/<kind>.yaml` and `domains.yaml`, each where it has something to
    say. A class, domain or pattern with an id that is there already takes its place; any other is added. A file of a
    category that is there already may leave out its title and description. Raises `ContentError` with all faults of
    all files, `UsageError` for what is no such directory.
    """
    gathered = _Gathered()
    for directory in (_SHIPPED, *extra_dirs):
        _check_directory(directory)
        gathered.read(directory)
    return gathered.taxonomy()


def _check_directory(directory: Path) -> None:
    if not directory.is_dir():
        raise UsageError(f"{directory} is no directory; name one with categories/, patterns/ or blueprints/ in it")
    if not any((directory / name).exists() for name in _LAYOUT):
        raise UsageError(f"{directory} has nothing of a taxonomy in it; put {', '.join(_LAYOUT)} there, or one of them")


class _Gathered:
    """Items by id as they are read, and where each came from, for the faults."""

    def __init__(self) -> None:
        self.categories: dict[str, Category] = {}
        self.domains: dict[str, Domain] = {}
        self.patterns: dict[PatternKind, dict[str, Pattern]] = {kind: {} for kind in PATTERN_KINDS}
        self.faults: list[Fault] = []
        self._category_of: dict[str, str] = {}
        self._named_categories: set[str] = set()
        self._pattern_places: list[tuple[Source, int, Pattern]] = []

    def read(self, directory: Path) -> None:
        for source in self._sources(directory / "categories"):
            self._read_category(source)
        for source in self._sources(directory, "domains"):
            self._read_domains(source)
        for source in self._sources(directory / "patterns"):
            self._read_patterns(source)

    def _sources(self, directory: Path, name: str = "*") -> Iterator[Source]:
        for path in sorted(directory.glob(f"{name}.yml")):
            self.faults.append(Fault(str(path), 1, "only .yaml files are read", f"name it {path.stem}.yaml"))
        for path in sorted(directory.glob(f"{name}.yaml")):
            try:
                yield read_yaml(path)
            except ContentError as error:
                self.faults += error.faults
                self._named_categories.add(path.stem)

    def _read_category(self, source: Source) -> None:
        name = source.path.stem
        self._named_categories.add(name)
        there = self.categories.get(name)
        file: Category | _MoreClasses | None
        file, faults = check_model(source, Category) if there is None else check_model(source, _MoreClasses)
        self.faults += faults
        if file is None:
            return
        self._check_classes(source, file.id, file.classes)
        if file.id != name:
            what = f"the category is named {file.id}"
            self.faults.append(source.fault(("id",), what, f"name it {name}, as the file"))
        elif isinstance(file, Category):
            self.categories[name] = file
        elif there is not None:
            self.categories[name] = _merged(there, file)

    def _check_classes(self, source: Source, category: str, leaves: Sequence[RiskClass]) -> None:
        self._check_twice(source, leaves, ("classes",))
        for number, leaf in enumerate(leaves):
            owner = self._category_of.setdefault(leaf.id, category)
            if owner != category:
                what = f"{leaf.id} is a class of {owner} already"
                self.faults.append(source.fault(("classes", number, "id"), what, "give it another id"))

    def _read_domains(self, source: Source) -> None:
        domains, faults = check_model(source, _Domains)
        self.faults += faults
        if domains is not None:
            self._check_twice(source, domains.root)
            self.domains.update({d.id: d for d in domains.root})

    def _read_patterns(self, source: Source) -> None:
        kind = next((k for k in PATTERN_KINDS if k == source.path.stem), None)
        if kind is None:
            what = f"there is no kind of pattern {source.path.stem}"
            self.faults.append(source.fault((), what, f"name the file {_one_of(source.path.stem, PATTERN_KINDS)}"))
            return
        patterns, faults = check_model(source, _Patterns)
        self.faults += faults
        if patterns is not None:
            self._check_twice(source, patterns.root)
            self.patterns[kind].update({p.id: p for p in patterns.root})
            self._pattern_places += [(source, number, pattern) for number, pattern in enumerate(patterns.root)]

    def _check_twice(self, source: Source, items: Sequence[Item], loc: tuple[str | int, ...] = ()) -> None:
        seen: set[str] = set()
        for number, item in enumerate(items):
            if item.id in seen:
                place = (*loc, number, "id")
                self.faults.append(source.fault(place, f"{item.id} is there twice", "give each its own id"))
            seen.add(item.id)

    def _check_patterns(self) -> None:
        """Last, since a pattern may name a category of a directory that is read later."""
        known = {*self.categories, *self._named_categories}
        for source, number, pattern in self._pattern_places:
            for place, category in enumerate(pattern.categories if pattern.categories != "all" else ()):
                if category not in known:
                    what, mend = f"there is no category {category}", _one_of(category, sorted(known))
                    self.faults.append(source.fault((number, "categories", place), what, f"write {mend}"))

    def taxonomy(self) -> Taxonomy:
        self._check_patterns()
        if self.faults:
            raise ContentError(self.faults)
        return Taxonomy(
            categories=tuple(self.categories[c] for c in sorted(self.categories)),
            domains=tuple(self.domains.values()),
            patterns={kind: tuple(found.values()) for kind, found in self.patterns.items()},
        )


def _merged(there: Category, more: _MoreClasses) -> Category:
    """A category with what a later file says of it: classes by id, new ones at the end."""
    said = {key: value for key, value in more if key != "classes" and value is not None}
    leaves = {leaf.id: leaf for leaf in (*there.classes, *more.classes)}
    return there.model_copy(update={**said, "classes": tuple(leaves.values())})


def _one_of(wrong: str, known: Sequence[str]) -> str:
    """The one that was meant, or all there are."""
    return next(iter(difflib.get_close_matches(wrong, known, n=1)), " or ".join([", ".join(known[:-1]), known[-1]]))
