"""Counterfactual safety benchmarks for tool-using agents, every label proved by running it."""

__all__ = ["__version__"]

__version__ = "0.1.0"
