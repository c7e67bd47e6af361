"""The skeleton of a family: schema, transitions, grants and plan with identifiers and literals erased.

Two families with one skeleton differ in names, numbers and texts alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agentbound.data.canonical import digest
from agentbound.data.records import Scaffold
from agentbound.sandbox.paths import is_reference

_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|:?[A-Za-z_]\w*|\d+(?:\.\d+)?|[^\s\w]")
_KEYWORDS: Final = frozenset(
    [
        "select",
        "exists",
        "from",
        "where",
        "and",
        "or",
        "not",
        "in",
        "is",
        "null",
        "join",
        "left",
        "inner",
        "on",
        "as",
        "order",
        "by",
        "group",
        "having",
        "count",
        "sum",
        "min",
        "max",
        "coalesce",
        "insert",
        "into",
        "values",
        "update",
        "set",
        "delete",
        "returning",
        "case",
        "when",
        "then",
        "else",
        "end",
        "like",
        "between",
        "distinct",
        "union",
        "all",
        "with",
        "limit",
        "create",
        "table",
        "view",
        "text",
        "integer",
        "real",
        "primary",
        "key",
        "references",
        "check",
        "unique",
        "strftime",
        "substr",
        "date",
        "julianday",
        "abs",
        "total",
    ]
)


def skeleton(scaffold: Scaffold) -> str:
    """A short hash, the same for families that differ in identifiers and literals alone."""
    names: dict[str, str] = {}
    statements = [" ".join(_erase(sql, names)) for sql in _statements(scaffold)]
    plan = [[len(s.args), sum(map(is_reference, s.args.values())), len(s.after)] for s in scaffold.judge.plan]
    return digest([statements, plan])[:16]


def _statements(scaffold: Scaffold) -> Iterator[str]:
    yield from scaffold.world.schema_
    for transition in scaffold.world.transitions.values():
        yield from (r.sql for r in transition.requires)
        yield from transition.sql
    for contract in scaffold.authority.contracts:
        yield from (g.sql for g in contract.admit)
        if contract.approval:
            yield contract.approval.when or ""
            yield contract.approval.find


def _erase(sql: str, names: dict[str, str]) -> Iterator[str]:
    for token in _TOKEN.findall(sql):
        if token.startswith("'") or token[0].isdigit():
            yield "L"
        elif token.lower() in _KEYWORDS or not (token[0].isalpha() or token[0] in "_:"):
            yield token.lower()
        else:
            yield names.setdefault(token, f"i{len(names)}")
