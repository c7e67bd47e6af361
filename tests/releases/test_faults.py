"""A release that is damaged, edited or already there: one sentence each, and never a half-believed reading."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyrage
import pytest

from agentbound.data.records import parse_family
from agentbound.data.releases import Entry, RunFacts, assemble, read_evaluation, read_manifest, verify
from agentbound.data.releases.tables import check_public
from agentbound.errors import ReleaseError
from golden import NAMES, record

SECRET = bytes(range(32))
FACTS = RunFacts(requested=3, accepted=3, rejected=0, drafts=0)


def entry(name: str) -> Entry:
    return Entry(family=parse_family(record(name)), certificate={"runs": 1}, provenance={})


def build(out: Path, names: tuple[str, ...] = NAMES, secret: bytes = SECRET, **options: Any) -> Path:
    assemble(out, [entry(n) for n in names], secret, "0.1.0", FACTS, {}, **options)
    return out


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("release") / "r")


@pytest.fixture
def release(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "r")
    return tmp_path / "r"


def rewrite(part: Path, name: str, data: bytes) -> None:
    """Another content for a file, and a manifest that says so."""
    (part / name).write_bytes(data)
    manifest = json.loads((part / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    (part / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def edit(part: Path, name: str, change: Callable[[list[dict[str, Any]]], None]) -> None:
    table = pq.read_table(part / name)
    rows = table.to_pylist()
    change(rows)
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), held)
    rewrite(part, name, held.getvalue())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", r"manifest\.json: the whole"),
        ("{", r"manifest\.json: the whole"),
        ('{"part":"evaluation"}', r"manifest\.json: version: Field required"),
        ('{"part":"other","version":"1","canary":"c","content_hash":"h","files":{}}', r"manifest\.json: part"),
        ('{"part":"evaluation","version":"1","canary":"c","content_hash":"h","files":{"a":1}}', r"files\.a"),
        (
            '{"part":"evaluation","version":"1","canary":"c","content_hash":"h","files":{"../a":{"sha256":"0","bytes":1}}}',
            r"names \.\./a, which is outside",
        ),
    ],
    ids=["a list", "torn", "no version", "another part", "a file without hash", "a file outside"],
)
def test_a_manifest_that_is_none(release: Path, text: str, message: str) -> None:
    (release / "evaluation/manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError, match=message):
        read_evaluation(release / "evaluation")
    with pytest.raises(ReleaseError, match=message):
        verify(release / "public", release / "evaluation")


def test_a_part_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="is no part of a release"):
        read_manifest(tmp_path / "nowhere")


def test_an_edited_evaluation_row_is_not_read_even_with_its_new_hash(release: Path) -> None:
    def permit(rows: list[dict[str, Any]]) -> None:
        rows[0]["permitted"] = not rows[0]["permitted"]

    edit(release / "evaluation", "data/tasks.parquet", permit)
    with pytest.raises(ReleaseError, match="the rows are not those the manifest names"):
        read_evaluation(release / "evaluation")


def test_an_edited_public_row_is_seen_even_with_its_new_hash(release: Path) -> None:
    edit(release / "public", "data/tasks.parquet", lambda rows: rows[0].update(instruction="another"))
    with pytest.raises(ReleaseError, match="the rows are not those the manifest names"):
        verify(release / "public", release / "evaluation")


def test_a_public_part_of_another_release_of_the_same_content_hash_is_seen(release: Path) -> None:
    def forge(rows: list[dict[str, Any]]) -> None:
        rows[0]["instruction"] = "another"

    from agentbound.data.releases.tables import content_hash, read_table

    edit(release / "public", "data/tasks.parquet", forge)
    tables = {n: read_table(release / f"public/data/{n}.parquet") for n in ("tasks", "worlds")}
    manifest = json.loads((release / "public/manifest.json").read_text(encoding="utf-8"))
    manifest["content_hash"] = content_hash(tables)
    (release / "public/manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"is not what .*evaluation belongs to"):
        verify(release / "public", release / "evaluation")


@pytest.mark.parametrize("content", [b"{}", b"[]", b'{"secret":"xyz"}', b'{"secret":7}', b"\xff"])
def test_a_secret_that_is_none(release: Path, content: bytes) -> None:
    rewrite(release / "evaluation", "secret.json", content)
    with pytest.raises(ReleaseError, match=r"secret\.json holds no secret"):
        verify(release / "public", release / "evaluation")


def test_parts_in_the_wrong_order(release: Path) -> None:
    with pytest.raises(ReleaseError, match="name them in this order"):
        verify(release / "evaluation", release / "public")


def test_a_short_secret_and_a_family_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="has 32 bytes, this one 1"):
        build(tmp_path / "a", secret=b"x")
    with pytest.raises(ReleaseError, match="comes twice"):
        build(tmp_path / "b", names=("dispensary", "dispensary"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "rows",
    [
        [{"task_id": "a", "x": "1", "judge": "{}"}],
        [{"task_id": "a"}],
        [{"task_id": "a", "x": None}],
        [{"task_id": "a", "x": 1}],
    ],
    ids=["a column more", "a column less", "nothing in it", "a number"],
)
def test_public_rows_out_of_their_schema_are_refused(rows: list[dict[str, Any]]) -> None:
    check_public("tasks", [{"task_id": "a", "x": "1"}], ("task_id", "x"))
    with pytest.raises(ReleaseError, match="the public config tasks breaks its schema"):
        check_public("tasks", rows, ("task_id", "x"))


def test_a_public_id_twice_is_refused() -> None:
    with pytest.raises(ReleaseError, match="a task id twice"):
        check_public("tasks", [{"task_id": "a"}, {"task_id": "a"}], ("task_id",))


def test_replace_puts_another_release_in_place(release: Path) -> None:
    build(release, names=("dispensary",), replace=True)
    assert [f.family_id for f in read_evaluation(release / "evaluation").families] == ["example-dispensing"]
    verify(release / "public", release / "evaluation")
    assert [p.name for p in release.parent.iterdir()] == ["r"]


def test_a_replacement_that_was_stopped_between_its_renames_is_made_good(release: Path) -> None:
    release.rename(release.with_name("r.old"))
    with pytest.raises(ReleaseError, match="holds another release"):
        build(release, names=("dispensary",))
    assert len(read_evaluation(release / "evaluation").families) == len(NAMES)


def test_with_a_bundle_the_same_release_is_left_alone_and_other_recipients_are_not(tmp_path: Path) -> None:
    keys = [str(pyrage.x25519.Identity.generate().to_public()) for _ in range(2)]
    out = build(tmp_path / "r", recipients=keys[:1])
    bundle = (out / "evaluation/evaluation.age").read_bytes()
    build(out, recipients=keys[:1])
    assert (out / "evaluation/evaluation.age").read_bytes() == bundle
    for others in (keys, keys[1:], []):
        with pytest.raises(ReleaseError, match="holds another release"):
            build(out, recipients=others)


def test_two_builds_with_a_bundle_differ_in_it_alone(tmp_path: Path) -> None:
    key = str(pyrage.x25519.Identity.generate().to_public())
    one, two = (build(tmp_path / n, recipients=[key]) for n in "ab")
    names = [p.relative_to(one).as_posix() for p in one.rglob("*") if p.is_file()]
    differ = {n for n in names if (one / n).read_bytes() != (two / n).read_bytes()}
    assert differ == {"evaluation/evaluation.age", "evaluation/manifest.json"}
    manifests = [read_manifest(r / "evaluation") for r in (one, two)]
    bundles = [m["files"].pop("evaluation.age")["sha256"] for m in manifests]
    assert manifests[0] == manifests[1]
    assert bundles[0] != bundles[1]
