"""Risk categories, classes, domains and patterns: YAML files and their loader."""

from agentbound.taxonomy.loader import Category, Domain, Pattern, RiskClass, Taxonomy, load_taxonomy

__all__ = ["Category", "Domain", "Pattern", "RiskClass", "Taxonomy", "load_taxonomy"]
