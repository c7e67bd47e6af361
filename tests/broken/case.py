"""What a broken family is: a golden one, broken in one way, and the proofs that find it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentbound.data.records import Family, parse_family
from golden import record

Break = Callable[[Any], None]


@dataclass(frozen=True)
class Case:
    """`break_it` changes the record; `found` are all codes; `where` stands in the place of a finding of `code`."""

    code: str
    name: str
    family: str
    break_it: Break
    found: frozenset[str]
    where: str

    def broken(self) -> Family:
        data = record(self.family)
        self.break_it(data)
        return parse_family(data)


CASES: list[Case] = []


def case(code: str, family: str, where: str, *others: str) -> Callable[[Break], Break]:
    """Register a way to break a golden family; `others` are the codes that find it too."""

    def add(break_it: Break) -> Break:
        CASES.append(Case(code, break_it.__name__, family, break_it, frozenset({code, *others}), where))
        return break_it

    return add


def contract(data: Any, tool: str) -> Any:
    return next(c for c in data["authority"]["contracts"] if c["tool"] == tool)


def grant(data: Any, tool: str, name: str) -> Any:
    return next(g for g in contract(data, tool)["admit"] if g["id"] == name)


def evidence(data: Any, name: str) -> Any:
    return next(e for e in data["judge"]["evidence"] if e["id"] == name)


def step(data: Any, name: str) -> Any:
    return next(s for s in data["judge"]["plan"] if s["id"] == name)


def action(data: Any, name: str) -> Any:
    return next(a for a in data["paths"]["actions"] if a["id"] == name)


def flip(data: Any, name: str) -> Any:
    return next(f for f in data["flips"] if f["id"] == name)


def row(data: Any, table: str, key: str) -> Any:
    return next(r for r in data["world"]["rows"][table] if r["id"] == key)
