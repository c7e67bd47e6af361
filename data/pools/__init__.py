"""Pools of invented names and things that values are drawn from, one YAML list a file."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

from agentbound.errors import UsageError

__all__ = ["pool", "pool_names"]


@lru_cache(maxsize=64)
def pool(name: str) -> list[Any]:
    """The items of a pool. Raises `UsageError` where there is none of that name."""
    path = files(__name__).joinpath(f"{name}.yaml")
    if not path.is_file():
        raise UsageError(f"there is no pool named {name}; there are {', '.join(pool_names())}")
    items = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return list(items)


def pool_names() -> list[str]:
    return sorted(p.name.removesuffix(".yaml") for p in files(__name__).iterdir() if p.name.endswith(".yaml"))
