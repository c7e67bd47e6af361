"""The consoles everything is printed on: results on standard output, errors and progress on standard error."""

from __future__ import annotations

from functools import lru_cache

from rich.console import Console


@lru_cache(maxsize=1)
def out() -> Console:
    return Console(highlight=False, soft_wrap=False)


@lru_cache(maxsize=1)
def err() -> Console:
    return Console(stderr=True, highlight=False)
