"""YAML files by strangers: read once, checked whole, every fault with its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from agentbound.errors import ContentError, Fault
from agentbound.taxonomy.model_problems import model_problems
from agentbound.taxonomy.yaml_problems import holds_itself, node_problems, syntax_problem

__all__ = ["Loc", "Source", "check_model", "read_yaml"]

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
            if key.value == str(step) or (isinstance(step, bool) and key.tag.endswith(":bool")):
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
    """Read a YAML file. Raises `ContentError` with all the places where it is no YAML, or says a thing twice."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        what = f"it cannot be read: byte {error.start + 1} is no UTF-8"
        raise ContentError([Fault(str(path), line, what, "save the file as UTF-8 text")]) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ContentError(
            [Fault(str(path), 1, f"it cannot be read: {reason}", "name a text file that can be read")]
        ) from None
    try:
        data = yaml.load(text, Loader=_NoDuplicates)
    # What the library raises for a value it cannot make (a 13th month, a list as a key) is whatever Python raises.
    except (yaml.YAMLError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise ContentError(_unreadable(path, text, error)) from None
    if holds_itself(data):
        raise ContentError([Fault(str(path), 1, "an alias names what it stands in", "write the value out")])
    return Source(path, text, data)


def _unreadable(path: Path, text: str, error: Exception) -> list[Fault]:
    """Why a file gave no data: what is wrong in its nodes, all of it, or else its one fault of syntax."""
    try:
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as syntax:
        return [Fault(str(path), *syntax_problem(text, syntax))]
    return [Fault(str(path), *p) for p in node_problems(root)] or [Fault(str(path), *syntax_problem(text, error))]


def check_model(source: Source, model: type[Model]) -> tuple[Model | None, list[Fault]]:
    """The data as a model, or the faults that keep it from being one, each with line and mend."""
    try:
        return model.model_validate(source.data), []
    except ValidationError as error:
        problems = model_problems(model, source.data, error.errors())
        return None, sorted({source.fault(loc, what, mend) for loc, what, mend in problems})
