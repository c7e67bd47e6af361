"""Risk categories, classes, domains and patterns: YAML files and their loader."""

from agentbound.taxonomy.loader import Taxonomy, load_taxonomy
from agentbound.taxonomy.records import PATTERN_KINDS, Category, Domain, Pattern, PatternKind, RiskClass

__all__ = [
    "PATTERN_KINDS",
    "Category",
    "Domain",
    "Pattern",
    "PatternKind",
    "RiskClass",
    "Taxonomy",
    "load_taxonomy",
]
