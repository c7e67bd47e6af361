"""Reading blueprint files: all faults of all files at once, or the blueprints."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Protocol

from pydantic import TypeAdapter, ValidationError

from agentbound.data.blueprint.conditions import Loc, Version, is_branch, versions
from agentbound.data.blueprint.links_check import Applications, link_problems
from agentbound.data.blueprint.model import BlueprintFile, ToolSpec
from agentbound.data.blueprint.names_check import name_problems
from agentbound.data.blueprint.uses import SECTIONS, use_part
from agentbound.data.blueprint.values_check import Problem
from agentbound.data.canonical import digest
from agentbound.errors import ContentError, Fault, UsageError
from agentbound.taxonomy.yaml_source import Source, check_model, read_yaml

__all__ = ["Blueprint", "KnownIds", "load_blueprint", "load_blueprints"]

_SHIPPED: Final = Path(str(files("agentbound.data").joinpath("blueprints")))
_TOOLS: Final = TypeAdapter(dict[str, ToolSpec])


class KnownIds(Protocol):
    """What a blueprint's ids are looked up in: the taxonomy."""

    def class_ids(self, category: str) -> Collection[str] | None:
        """The risk classes of a category, or None where there is no such category."""

    def domain_ids(self) -> Collection[str]: ...

    def pattern_ids(self, kind: str, category: str) -> Collection[str]:
        """The patterns of a kind (misuse, disguise, authorization, containment) that a category may use."""


@dataclass(frozen=True, eq=False)
class Blueprint:
    """A blueprint that has been read and checked.

    `raw` is the file's data with the parts it uses written in, conditions and placeholders in place. `flips` are the
    ids of the flips that may make the forbidden world.
    """

    name: str
    category: str
    risk_class: str
    domain: str
    pool: str
    theme: str
    flips: tuple[str, ...]
    raw: Mapping[str, Any] = field(repr=False)
    source: Source = field(repr=False)
    part_origins: Mapping[Loc, Loc] = field(repr=False, default_factory=dict)
    """Tables, views and tools that come from a part, and the item of `use` they come from."""

    @property
    def file(self) -> str:
        return str(self.source.path)

    @property
    def digest(self) -> str:
        """The hash of its content, parts included."""
        return digest(self.raw)

    def line(self, loc: Loc) -> int:
        """The line of a place; what comes from a part is at the `use` that brings it."""
        return self.source.line(self.part_origins.get(loc[:2], loc))

    def fault(self, loc: Loc, what: str, mend: str) -> Fault:
        return Fault(self.file, self.line(loc), what, mend)


def load_blueprints(*extra_dirs: Path, taxonomy: KnownIds | None = None, shipped: bool = True) -> list[Blueprint]:
    """The shipped blueprints and those under `blueprints/` in the `extra_dirs`, sorted by category, class and name.

    Raises `ContentError` with the faults of all files. Without a taxonomy, ids are not looked up.
    """
    found: list[Blueprint] = []
    faults: list[Fault] = []
    for path in _paths([*([_SHIPPED] if shipped else []), *(d / "blueprints" for d in extra_dirs)]):
        try:
            found.append(load_blueprint(path, taxonomy=taxonomy))
        except ContentError as error:
            faults += error.faults
    faults += _same_names(found)
    if faults:
        raise ContentError(faults)
    return sorted(found, key=lambda b: (b.category, b.risk_class, b.name))


def load_blueprint(path: Path, *, taxonomy: KnownIds | None = None) -> Blueprint:
    """Read and check one file. Raises `ContentError` with all its faults."""
    source = read_yaml(path)
    if not isinstance(source.data, dict):
        raise ContentError([source.fault((), "the file is no mapping", "write the keys of docs/blueprints.md")])
    expansion = _expand(source)
    file, faults = _check(source, expansion, taxonomy)
    faults += expansion.faults
    if file is None or faults:
        raise ContentError(faults)
    return Blueprint(
        name=file.blueprint,
        category=file.category,
        risk_class=file.risk_class,
        domain=file.domain,
        pool=file.pool,
        theme=file.theme,
        flips=tuple(_eligible(source.data["flips"])),
        raw=expansion.data,
        source=source,
        part_origins=expansion.origins,
    )


@dataclass
class _Expansion:
    data: dict[str, Any]
    origins: dict[Loc, Loc]
    faults: list[Fault]


def _expand(source: Source) -> _Expansion:
    """The file's data with its parts written in: the blueprint's own pieces first."""
    data = dict(source.data)
    made: dict[str, dict[str, Any]] = {s: dict(data[s]) if isinstance(data.get(s), dict) else {} for s in SECTIONS}
    expansion = _Expansion(data, {}, [])
    uses = data.get("use")
    for number, use in enumerate(uses if isinstance(uses, list) else []):
        if not isinstance(use, dict):
            continue
        try:
            used = use_part(use)
        except ContentError as error:
            expansion.faults += error.faults
            continue
        place: Loc = ("use", number)
        expansion.faults += [source.fault((*place, *loc), what, mend) for loc, what, mend in used.problems]
        for section in SECTIONS:
            for name, spec in used.made[section].items():
                if name in made[section]:
                    expansion.faults.append(
                        source.fault(place, f"{section} has {name} already", "rename one through the part's parameters")
                    )
                made[section][name] = {"if": use["if"], "then": spec} if "if" in use else spec
                expansion.origins[section, name] = place
    data.update(made)
    return expansion


def _check(
    source: Source, expansion: _Expansion, taxonomy: KnownIds | None
) -> tuple[BlueprintFile | None, list[Fault]]:
    faults = [source.fault(loc, what, mend) for loc, what, mend in name_problems(source.data)]
    file: BlueprintFile | None = None
    for version in versions(source.data):
        model, wrong = check_model(_view(source, version), BlueprintFile)
        faults += wrong
        if model is None:
            continue
        file = file or model
        problems = list(_pattern_problems(model, taxonomy)) if taxonomy else []
        if not expansion.faults:  # where a part is missing, what it would bring is missed everywhere
            problems += link_problems(model, _applications(model, expansion))
        faults += [source.fault(version.origin(loc), what, mend) for loc, what, mend in problems]
    if file is not None:
        faults += _identity(source, file, taxonomy)
    return file, faults


class _View(Source):
    """A version of a source: the places of the version have the lines of the file."""

    version: Version
    whole: Source

    def line(self, loc: Sequence[str | int]) -> int:
        return self.whole.line(self.version.origin(tuple(loc)))


def _view(source: Source, version: Version) -> Source:
    view = _View(source.path, source.text, version.data)
    object.__setattr__(view, "version", version)
    object.__setattr__(view, "whole", source)
    return view


def _applications(file: BlueprintFile, expansion: _Expansion) -> Applications:
    """The pieces of a version: its own and every part's; tables and views also where a branch leaves them out of it."""
    names: dict[str, dict[str, Any]] = {s: dict(getattr(file, s)) for s in SECTIONS}
    for section, name in expansion.origins:
        spec = expansion.data[str(section)][name]
        names[str(section)][str(name)] = spec["then"] if is_branch(spec) else spec
    own = {n: t for n, t in names["tools"].items() if isinstance(t, ToolSpec)}
    try:
        others = _TOOLS.validate_python({n: t for n, t in names["tools"].items() if n not in own})
    except ValidationError as error:
        raise UsageError(f"{file.blueprint}: a part's tool is not well formed once it is filled in: {error}") from error
    tables, views = (frozenset({**names[s], **expansion.data.get(s, {})}) for s in ("tables", "views"))
    return Applications(tables, views, {**own, **others})


def _identity(source: Source, file: BlueprintFile, taxonomy: KnownIds | None) -> Iterator[Fault]:
    if file.blueprint != source.path.stem:
        yield source.fault(
            ("blueprint",), f"the blueprint is named {file.blueprint}", f"name it {source.path.stem}, as the file"
        )
    if taxonomy is None:
        return
    classes = taxonomy.class_ids(file.category)
    if classes is None:
        yield source.fault(("category",), f"there is no category {file.category}", "look at `agentbound taxonomy list`")
    elif file.risk_class not in classes:
        yield source.fault(
            ("risk_class",), f"{file.category} has no class {file.risk_class}", f"it has {', '.join(sorted(classes))}"
        )
    if file.domain not in taxonomy.domain_ids():
        yield source.fault(
            ("domain",), f"there is no domain {file.domain}", f"there are {', '.join(sorted(taxonomy.domain_ids()))}"
        )


def _pattern_problems(file: BlueprintFile, taxonomy: KnownIds) -> Iterator[Problem]:
    for kind in ("misuse", "disguise", "authorization", "containment"):
        known = taxonomy.pattern_ids(kind, file.category)
        for number, name in enumerate(getattr(file.patterns, kind)):
            if name not in known:
                what = f"there is no {kind} pattern {name} for {file.category}"
                yield ("patterns", kind, number), what, f"there are {', '.join(sorted(known))}"


def _eligible(flips: Any) -> Iterator[str]:
    for item in flips:
        for flip in [item["then"], item.get("else")] if is_branch(item) else [item]:
            if isinstance(flip, dict) and flip.get("forbidden", True):
                yield flip["id"]


def _paths(directories: Sequence[Path]) -> list[Path]:
    """The files at any depth; a directory that is not there holds none."""
    return [path for directory in directories for path in sorted(directory.rglob("*.yaml"))]


def _same_names(blueprints: Sequence[Blueprint]) -> Iterator[Fault]:
    first: dict[str, Blueprint] = {}
    for blueprint in blueprints:
        other = first.setdefault(blueprint.name, blueprint)
        if other is not blueprint:
            yield blueprint.fault(
                ("blueprint",), f"{blueprint.name} is also the name of {other.file}", "give one of them another name"
            )
