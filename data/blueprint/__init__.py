"""Blueprint files: their format, their faults, and reading them. `docs/blueprints.md` explains the keys."""

from agentbound.data.blueprint.loader import Blueprint, KnownIds, load_blueprint, load_blueprints
from agentbound.data.blueprint.model import BlueprintFile, PartFile, ToolSpec
from agentbound.data.blueprint.sql import SqlLeaf, sql_leaves
from agentbound.data.blueprint.turns import FlipShape, Turn, flip_shapes, turns

__all__ = [
    "Blueprint",
    "BlueprintFile",
    "FlipShape",
    "KnownIds",
    "PartFile",
    "SqlLeaf",
    "ToolSpec",
    "Turn",
    "flip_shapes",
    "load_blueprint",
    "load_blueprints",
    "sql_leaves",
    "turns",
]
