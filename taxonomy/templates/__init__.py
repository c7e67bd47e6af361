"""Templates of content files: commented, valid as they stand, `@name@` where a name goes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Literal

__all__ = ["filled"]


def filled(template: Literal["category", "class", "blueprint"], names: Mapping[str, str]) -> str:
    """The text of a template with the names put in."""
    text = files(__name__).joinpath(f"{template}.yaml").read_text(encoding="utf-8")
    for name, value in names.items():
        text = text.replace(f"@{name}@", value)
    return text
