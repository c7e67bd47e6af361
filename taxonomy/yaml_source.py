"""YAML files by strangers: read once, checked whole, every fault with its line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from agentbound.errors import ContentError, Fault

Model = TypeVar("Model", bound=BaseModel)
Loc = Sequence[str | int]


@dataclass(frozen=True)
class Source:
    """A YAML file: its data, and the line of any place in it."""

    path: Path
    text: str = field(repr=False)
    data: Any = field(repr=False)

    def line(self, loc: Loc) -> int:
        """The 1-based line of a place, or of the nearest place around it."""
        node = self._root
        line = 1
        for step in loc:
            found = _step(node, step)
            if found is None:
                break
            line, node = found
        return line

    def fault(self, loc: Loc, what: str, mend: str) -> Fault:
        return Fault(str(self.path), self.line(loc), what, mend)

    @cached_property
    def _root(self) -> yaml.Node | None:
        return yaml.compose(self.text, Loader=yaml.CSafeLoader)


def _step(node: yaml.Node | None, step: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        child = node.value[step]
        return child.start_mark.line + 1, child
    return None


class _NoDuplicates(yaml.CSafeLoader):
    """The C loader, which refuses a key that stands twice in a mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key.value} stands twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Source:
    """Read a YAML file. Raises `ContentError` with the line where it is no YAML."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ContentError(
            [Fault(str(path), 1, f"it cannot be read: {error}", "write a UTF-8 text file that can be read")]
        ) from None
    try:
        data = yaml.load(text, Loader=_NoDuplicates)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ContentError(
            [Fault(str(path), line, f"no YAML: {error.problem}", "mend the line; quote texts with : # < or {")]
        ) from None
    except yaml.YAMLError as error:
        raise ContentError([Fault(str(path), 1, f"no YAML: {error}", "write a YAML file")]) from None
    return Source(path, text, data)


def check_model(source: Source, model: type[Model]) -> tuple[Model | None, list[Fault]]:
    """The data as a model, or the faults that keep it from being one, each with line and mend."""
    try:
        return model.model_validate(source.data), []
    except ValidationError as error:
        return None, sorted(set(_faults(source, model, error)))


def _faults(source: Source, model: type[BaseModel], error: ValidationError) -> Iterator[Fault]:
    for item in error.errors():
        loc = [step for step in item["loc"] if not (isinstance(step, str) and "[" in step)]
        place = ".".join(map(str, loc)) or "the file"
        kind = item["type"]
        if kind == "extra_forbidden":
            near = difflib.get_close_matches(str(loc[-1]), _keys(model, loc[:-1]), n=1)
            hint = f"did you mean {near[0]}?" if near else f"known keys are {', '.join(_keys(model, loc[:-1]))}"
            yield source.fault(loc, f"unknown key {place}", hint)
        elif kind == "missing":
            yield source.fault(loc[:-1], f"{place} is missing", f"write {loc[-1]}")
        elif kind in ("too_short", "string_too_short"):
            yield source.fault(loc, f"{place} is empty", "write at least one")
        else:
            message = item["msg"].removeprefix("Value error, ")
            yield source.fault(
                loc,
                f"{place} is {_brief(item.get('input'))}: {message[0].lower()}{message[1:]}",
                "write what the docs say of this key",
            )


def _keys(model: type[BaseModel], loc: Loc) -> list[str]:
    """The keys a model has at a place: what may stand beside an unknown key there."""
    here = model
    for step in loc:
        field_info = here.model_fields.get(step) if isinstance(step, str) else None
        inner = _models(field_info.annotation) if field_info else []
        here = inner[0] if inner else here
    return [f.alias or n for n, f in here.model_fields.items()]


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for inner in getattr(annotation, "__args__", ()) for m in _models(inner)]


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
