"""Every SQL statement of a blueprint, with its place, so that it can be looked at before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from agentbound.data.blueprint.conditions import Loc, is_branch
from agentbound.data.blueprint.loader import Blueprint

__all__ = ["Mode", "SqlLeaf", "sql_leaves"]

Mode = Literal["ddl", "read", "write", "judge", "grant"]


@dataclass(frozen=True)
class SqlLeaf:
    """A statement as it is written, placeholders in place; `loc` goes into `Blueprint.line`.

    Tables and views are whole CREATE statements. A `requires` has the mode of a grant: one truth over the state.
    """

    loc: Loc
    mode: Mode
    template: str


def sql_leaves(blueprint: Blueprint) -> Iterator[SqlLeaf]:
    """All statements, those of parts and of both branches of a condition included."""
    raw = blueprint.raw
    for name, columns in raw["tables"].items():
        for loc, text in _leaves(columns, ("tables", name)):
            yield SqlLeaf(loc, "ddl", f"CREATE TABLE {name}({text})")
    for name, select in raw["views"].items():
        for loc, text in _leaves(select, ("views", name)):
            yield SqlLeaf(loc, "ddl", f"CREATE VIEW {name} AS {text}")
    for loc, tool in _nodes(raw["tools"], ("tools",)):
        yield from _of_keys(tool, loc, {"read": "read", "write": "write"})
        yield from _of_items(tool.get("requires"), (*loc, "requires"), {"sql": "grant"})
    for loc, contract in _nodes(raw["contracts"], ("contracts",)):
        yield from _of_items(contract.get("admit"), (*loc, "admit"), {"sql": "grant"})
        for place, approval in _either(contract.get("approval"), (*loc, "approval")):
            if isinstance(approval, dict):
                yield from _of_keys(approval, place, {"when": "grant", "find": "grant"})
    for name, truth in raw["success"].items():
        for loc, text in _leaves(truth, ("success", name)):
            yield SqlLeaf(loc, "judge", text)
    yield from _of_items(raw["harms"], ("harms",), {"sql": "judge"})


def _of_items(items: Any, loc: Loc, modes: dict[str, Mode]) -> Iterator[SqlLeaf]:
    for place, item in _nodes(items or [], loc):
        yield from _of_keys(item, place, modes)


def _of_keys(node: dict[str, Any], loc: Loc, modes: dict[str, Mode]) -> Iterator[SqlLeaf]:
    for key, mode in modes.items():
        for place, text in _leaves(node.get(key), (*loc, key)):
            yield SqlLeaf(place, mode, text)


def _nodes(items: Any, loc: Loc) -> Iterator[tuple[Loc, dict[str, Any]]]:
    """The mappings of a list or of a mapping, behind their conditions."""
    for place, container in _either(items, loc):
        pairs = container.items() if isinstance(container, dict) else enumerate(container or [])
        for key, item in pairs:
            for inner, node in _either(item, (*place, key)):
                if isinstance(node, dict):
                    yield inner, node


def _either(node: Any, loc: Loc) -> Iterator[tuple[Loc, Any]]:
    if is_branch(node):
        for branch in ("then", "else"):
            if branch in node:
                yield from _either(node[branch], (*loc, branch))
    else:
        yield loc, node


def _leaves(node: Any, loc: Loc) -> Iterator[tuple[Loc, str]]:
    """The texts at a place, behind conditions and lists of statements."""
    for place, item in _either(node, loc):
        if isinstance(item, str):
            yield place, item
        elif isinstance(item, list):
            for number, child in enumerate(item):
                yield from _leaves(child, (*place, number))
        elif isinstance(item, dict) and "if" in item:
            yield from _leaves(item.get("sql"), place)
