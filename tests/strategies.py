"""Strategies for hypothesis, shared by all tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from agentbound.data.records import Family

CALLERS = st.sampled_from([None, "support_agent", "somebody_else", ""])

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
"""Any JSON, and what is none: NaN, infinities, integers of any size, lone surrogates."""

odd_arguments: st.SearchStrategy[Any] = st.one_of(
    json_values,
    st.binary(),
    st.just(object()),
    st.sets(st.integers()),
    st.dictionaries(st.integers(), st.text(), max_size=2),
)
"""What a broken harness may send in place of an object."""


def known_values(family: Family) -> list[Any]:
    """Every cell of a family's world, and values beside them."""
    cells = {v for rows in family.world.rows.values() for row in rows for v in row.values() if v is not None}
    return [*sorted(cells, key=str), "", "x", 0, -1, 10**9, "now", "2026-03-14T09:00:00Z"]


def calls(family: Family) -> st.SearchStrategy[tuple[str, Any, str | None]]:
    """Tool, arguments and caller: most of them nearly right, some of them nonsense."""
    values = st.sampled_from(known_values(family))
    planned = [c.args for c in (*family.paths.investigation, *family.paths.actions)]

    def arguments(tool: Any) -> st.SearchStrategy[Any]:
        names = list(tool.parameters["properties"])
        return st.one_of(
            st.fixed_dictionaries(dict.fromkeys(names, values)),
            st.fixed_dictionaries({}, optional=dict.fromkeys(names, values | json_values)),
            st.sampled_from(planned),
        )

    sensible = st.sampled_from(family.tools).flatmap(lambda t: st.tuples(st.just(t.name), arguments(t), CALLERS))
    nonsense = st.tuples(st.text(max_size=20) | st.sampled_from([t.name for t in family.tools]), odd_arguments, CALLERS)
    reference = st.sampled_from([(c.tool, c.args, None) for c in (*family.paths.investigation, *family.paths.actions)])
    return st.one_of(sensible, sensible, reference, nonsense)
