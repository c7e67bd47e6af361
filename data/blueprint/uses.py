"""Application parts: schemas and tools written once, and their use in a blueprint.

A part is written into a blueprint's data when the file is read: its parameters are put in, its tables, views and
tools stand beside the blueprint's own. What a part's parameters hold may itself be a placeholder of the blueprint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from agentbound.data.blueprint.conditions import Loc
from agentbound.data.blueprint.model import PartFile
from agentbound.data.blueprint.placeholders import named_in, substitute
from agentbound.errors import ContentError, UsageError
from agentbound.taxonomy.yaml_source import check_model, read_yaml

__all__ = ["SECTIONS", "ApplicationPart", "Used", "part", "part_names", "use_part"]

SECTIONS: Final = ("tables", "views", "tools")

_OWN_KEYS: Final = frozenset({"part", "tools", "about", "if"})
_DIRECTORY: Final = Path(str(files("agentbound.data").joinpath("parts")))


@dataclass(frozen=True)
class ApplicationPart:
    """A part that has been read: its checked form, and the data as written."""

    file: PartFile
    raw: dict[str, Any]


@lru_cache(maxsize=64)
def part(name: str) -> ApplicationPart:
    """A part by name. Raises `UsageError` where there is none, `ContentError` where its file has faults."""
    path = _DIRECTORY / f"{name}.yaml"
    if not path.is_file():
        raise UsageError(f"there is no part named {name}; there are {', '.join(part_names())}")
    source = read_yaml(path)
    model, faults = check_model(source, PartFile)
    if model is None:
        raise ContentError(faults)
    known = set(model.params)
    for loc, text in _texts({s: source.data.get(s) or {} for s in SECTIONS}, ()):
        faults += [
            source.fault(loc, f"<{n}> is no parameter", f"parameters are {', '.join(sorted(known)) or 'none'}")
            for n in named_in(text)
            if n not in known
        ]
    if model.part != name:
        faults.append(source.fault(("part",), f"the part is named {model.part}", f"name it {name}, as the file"))
    if faults:
        raise ContentError(faults)
    return ApplicationPart(model, source.data)


def part_names() -> list[str]:
    """The parts there are."""
    return sorted(path.stem for path in _DIRECTORY.glob("*.yaml"))


@dataclass(frozen=True)
class Used:
    """A part with its parameters filled in: `made` has the sections, `problems` what is wrong with the use."""

    made: dict[str, dict[str, Any]]
    problems: list[tuple[Loc, str, str]]


def use_part(use: Mapping[str, Any]) -> Used:
    """Fill in a part. Problems have places below the item of `use`. Raises `ContentError` for a part with faults."""
    nothing: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    try:
        used = part(str(use.get("part")))
    except UsageError:
        return Used(
            nothing, [(("part",), f"there is no part {use.get('part')}", f"there are {', '.join(part_names())}")]
        )
    values = _parameters(used, use)
    unknown = set(map(str, use)) - _OWN_KEYS - set(used.file.params)
    has = ", ".join(used.file.params)
    problems: list[tuple[Loc, str, str]] = [
        *(((key,), f"part {used.file.part} has no parameter {key}", f"it has {has}") for key in sorted(unknown)),
        *((("part",), f"part {used.file.part} needs {n}", f"write {n}: …") for n, v in values.items() if v is None),
    ]
    made = {section: substitute(used.raw.get(section) or {}, values) for section in SECTIONS}
    made["tools"] = _picked(made["tools"], use, problems)
    return Used(made, problems)


def _parameters(used: ApplicationPart, use: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as given, or their defaults; a default may name an earlier parameter: `read_<table>`."""
    values: dict[str, Any] = {}
    for name, default in used.file.params.items():
        values[name] = use[name] if name in use else substitute(default, values)
    return values


def _picked(tools: dict[str, Any], use: Mapping[str, Any], problems: list[tuple[Loc, str, str]]) -> dict[str, Any]:
    wanted = use.get("tools")
    names = list(tools) if wanted is None else [str(n) for n in wanted]
    about = use.get("about") or {}
    problems += [
        *((("tools",), f"the part has no tool {n}", f"it has {', '.join(tools)}") for n in names if n not in tools),
        *((("about", n), f"no tool {n} is used", f"there are {', '.join(names)}") for n in about if n not in names),
    ]
    return {n: {**tools[n], **({"about": about[n]} if n in about else {})} for n in names if n in tools}


def _texts(node: Any, loc: Loc) -> Iterator[tuple[Loc, str]]:
    if isinstance(node, str):
        yield loc, node
    elif isinstance(node, dict):
        for key, child in node.items():
            yield loc, str(key)
            yield from _texts(child, (*loc, key))
    elif isinstance(node, list):
        for number, child in enumerate(node):
            yield from _texts(child, (*loc, number))
