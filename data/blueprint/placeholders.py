"""`<name>` and `<name.form>`: where a drawn value is written into text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["PLACEHOLDER", "named_in", "substitute"]

PLACEHOLDER: Final = re.compile(r"<([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?)>")
"""No spaces inside, and lower case: a comparison in SQL is not one."""


def named_in(text: str) -> list[str]:
    """The placeholders of a text, in order: `amount`, `amount.major`."""
    return PLACEHOLDER.findall(text)


def substitute(node: Any, values: Mapping[str, Any]) -> Any:
    """Write values into every string of plain data, names of mappings included; unknown placeholders stay.

    A string that is one placeholder and nothing else becomes the value, with its type.
    """
    if isinstance(node, str):
        whole = PLACEHOLDER.fullmatch(node)
        if whole:
            return values.get(whole[1], node)
        return PLACEHOLDER.sub(lambda m: str(values[m[1]]) if m[1] in values else m[0], node)
    if isinstance(node, dict):
        return {str(substitute(k, values)): substitute(v, values) for k, v in node.items()}
    if isinstance(node, list):
        return [substitute(child, values) for child in node]
    return node
