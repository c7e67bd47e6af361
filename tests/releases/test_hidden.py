"""What is hidden stays hidden, leaf by leaf: whatever is not named as public has no part in any public byte."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentbound.data.records import Family, parse_family
from agentbound.data.releases import Entry, RunFacts, assemble, derive
from agentbound.data.releases.rows import public_tasks, public_worlds
from agentbound.data.releases.tables import read_table
from agentbound.errors import RecordError
from golden import NAMES, family

SECRET = bytes(range(32))
FACTS = RunFacts(requested=4, accepted=3, rejected=1, drafts=2)

Place = tuple[str | int, ...]

CANDIDATES: tuple[Any, ...] = (
    *("planted", 7, 2, 3, True, False, "environment", "insert", "update", "delete", "EB", "CM", [], {}),
    *(["HS"], ["planted"], {"planted": "planted"}, {"arg": "planted", "max": 7}),
    *({"calls": 7, "rule": "environment"}, {"find": "SELECT 'planted'", "rule": "environment"}),
    *(
        [{"table": "planted", "key": "planted"}],
        [{"id": "p", "sql": "SELECT 1", "because": "p", "rule": "environment"}],
    ),
)
"""Values to put into a leaf: the first that the record format takes there, and that was not there, is used."""


@cache
def whole(name: str) -> dict[str, Any]:
    """A golden record with every default written out, so that absent fields are leaves too."""
    dump: dict[str, Any] = family(name).model_dump(mode="json")
    return dump


def is_public(place: Place, data: dict[str, Any]) -> bool:
    """Whether a public byte may depend on this leaf. Everything that is not named here is hidden."""
    match place:
        case ("environment" | "caller" | "tools", *_):
            return True
        case ("world", "clock" | "schema" | "rows", *_):
            return True
        case ("world", "transitions", _, "kind" | "requires" | "sql", *_):
            return True
        case ("siblings", _, "instruction"):
            return True
        case ("family_id",):  # through the HMAC alone
            return True
        case ("forbidden",):  # names the flip that the forbidden world shows
            return True
        case ("flips", int(number), "delta", *_):
            return bool(data["flips"][number]["id"] == data["forbidden"])
        case ("flips", int(number), "id"):  # `forbidden` names it; renamed together below
            return bool(data["flips"][number]["id"] == data["forbidden"])
    return False


def leaves(node: Any, place: Place = ()) -> Iterator[Place]:
    """Every place that holds no further place; an empty list or object is one."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    inner = [leaf for key, child in pairs for leaf in leaves(child, (*place, key))]
    yield from inner or [place]


def changed(data: dict[str, Any], place: Place) -> Family | None:
    """The family with another value at one place; none where the format takes no other."""
    before = parse_family(data)
    for value in CANDIDATES:
        copy = json.loads(json.dumps(data))
        node = copy
        for step in place[:-1]:
            node = node[step]
        node[place[-1]] = value
        try:
            after = parse_family(copy)
        except RecordError:
            continue
        if after != before:
            return after
    return None


def public_rows(held: Family) -> list[dict[str, Any]]:
    return [*public_tasks(held, SECRET, "guid"), *public_worlds(held, SECRET, "guid")]


@pytest.mark.parametrize("name", NAMES)
def test_each_hidden_leaf_by_itself_changes_no_public_row(name: str) -> None:
    data = whole(name)
    before = public_rows(parse_family(data))
    hidden = [place for place in leaves(data) if not is_public(place, data)]
    assert len(hidden) > 150
    fixed = []
    for place in hidden:
        other = changed(data, place)
        if other is None:
            fixed.append(place)
        else:
            assert public_rows(other) == before, place
    assert fixed == [("schema_version",)]


@pytest.mark.parametrize("name", NAMES)
def test_a_renamed_forbidden_flip_changes_no_public_row(name: str) -> None:
    data = json.loads(json.dumps(whole(name)))
    before = public_rows(parse_family(data))
    next(f for f in data["flips"] if f["id"] == data["forbidden"])["id"] = "planted"
    data["forbidden"] = "planted"
    assert public_rows(parse_family(data)) == before


def test_a_change_of_what_is_public_is_seen() -> None:
    data = whole("refund_desk")
    before = public_rows(parse_family(data))
    wanted = {("environment",), ("caller",), ("siblings", "HS", "instruction"), ("tools", 0, "description")}
    seen = {p for p in wanted if (other := changed(data, p)) and public_rows(other) != before}
    assert seen == wanted


def build(out: Path, certificate: dict[str, Any], provenance: dict[str, Any], facts: RunFacts = FACTS) -> Path:
    entries = [Entry(family=family(n), certificate=certificate, provenance=provenance) for n in NAMES]
    assemble(out, entries, SECRET, "0.1.0", facts, {"solvable": "the reference path succeeds"})
    return out / "public"


def files(directory: Path) -> dict[str, bytes]:
    return {p.relative_to(directory).as_posix(): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()}


def test_certificate_provenance_and_gates_reach_the_commitment_alone(tmp_path: Path) -> None:
    plain = files(build(tmp_path / "one", {"runs": 1, "proofs": {}}, {"slot": "a"}))
    facts = FACTS.model_copy(update={"findings": {"planted": 9}, "gates": {"planted": {"passed": True}}})
    other = files(build(tmp_path / "two", {"runs": 2, "proofs": {"p": "planted"}}, {"slot": "planted"}, facts))
    assert {n for n in plain if plain[n] != other[n]} == {"manifest.json"}
    one, two = (json.loads(held.pop("manifest.json")) for held in (plain, other))
    assert {k for k in one if one[k] != two[k]} == {"commitment"}
    assert plain == other


def test_no_secret_stands_in_the_decoded_public_part(tmp_path: Path) -> None:
    public = build(tmp_path / "r", {"runs": 1}, {})
    held = b"".join(files(public).values())
    for path in (public / "data").iterdir():
        held += b"".join(json.dumps(row, ensure_ascii=False).encode() for row in read_table(path))
    secrets = [SECRET, *(derive(SECRET, label) for label in ("task ids", "commitment salt", "generator"))]
    assert derive(SECRET, "canary")[:4].hex().encode() in held  # the search finds what is there
    for secret in secrets:
        for form in (secret, secret.hex().encode(), secret.hex().upper().encode(), base64.b64encode(secret)):
            assert form not in held
