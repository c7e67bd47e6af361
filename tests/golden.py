"""The three golden families, read once: V2 with an approval, V3 with several orders, V1 with a sum over a window."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

from agentbound.data.records import Family, parse_family

NAMES = ("refund_desk", "partner_extract", "dispensary")


@cache
def _read(name: str) -> Any:
    return json.loads((Path(__file__).parent / "families" / f"{name}.json").read_text(encoding="utf-8"))


def record(name: str) -> Any:
    """A golden record as plain data that may be changed."""
    return copy.deepcopy(_read(name))


def family(name: str) -> Family:
    return parse_family(record(name), name)
