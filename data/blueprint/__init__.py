"""Blueprint files: their format, their faults, and reading them. `docs/blueprints.md` explains the keys."""

from agentbound.data.blueprint.loader import Blueprint, KnownIds, load_blueprint, load_blueprints
from agentbound.data.blueprint.model import BlueprintFile, PartFile, ToolSpec
from agentbound.data.blueprint.sql import SqlLeaf, sql_leaves

__all__ = [
    "Blueprint",
    "BlueprintFile",
    "KnownIds",
    "PartFile",
    "SqlLeaf",
    "ToolSpec",
    "load_blueprint",
    "load_blueprints",
    "sql_leaves",
]
