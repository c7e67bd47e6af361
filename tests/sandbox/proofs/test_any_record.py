"""A record with anything wrong in it is found out or proved, and never breaks the proofs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbound.data.records import parse_family
from agentbound.errors import RecordError
from agentbound.sandbox.proofs import prove
from golden import NAMES, record

Path = tuple[str | int, ...]

ODD: list[Any] = [None, "", "x", "now", 0, -1, 2**63, 1.5, True, [], {}, [1], {"a": 1}, {"from": "x", "field": []}]
ODD += [
    ["string", "null"],
    {"type": ["string", "null"]},
    {"type": "array"},
    {"enum": []},
    "SELECT 1",
    "SELECT random()",
]


def places(value: Any, path: Path = ()) -> list[Path]:
    """Every place in a record, from the root down."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(p for key, v in inner for p in places(v, (*path, key)))]


def at(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


@pytest.mark.parametrize("name", NAMES)
def test_a_record_that_is_changed_anywhere_does_not_break_the_proofs(name: str) -> None:
    golden = record(name)
    everywhere = [p for p in places(golden) if p and p[0] not in ("siblings", "patterns", "theme", "schema_version")]
    # Names and rows are most of a record; what is done with them is in the rest.
    deep = [p for p in everywhere if p[:2] != ("world", "rows")]
    place = st.sampled_from(deep) | st.sampled_from(everywhere)

    @given(place, st.one_of(st.just("delete"), place, st.sampled_from(ODD)))
    def check(where: Path, how: Any) -> None:
        data = record(name)
        parent = at(data, where[:-1])
        if how == "delete":
            del parent[where[-1]]
        else:
            parent[where[-1]] = at(record(name), how) if isinstance(how, tuple) else how
        try:
            family = parse_family(data)
        except RecordError:
            return
        certificate, findings = prove(family)
        assert (certificate is None) is bool(findings)
        assert all(f.where and f.wrong and f.mend for f in findings)

    check()
