"""A release: the same bytes from the same families, nothing hidden in its public part, and readable by others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentbound.data.records import parse_family
from agentbound.data.releases import Entry, RunFacts, assemble, read_evaluation, read_manifest, verify
from agentbound.data.releases.tables import read_table
from agentbound.errors import ReleaseError, StoreFull
from golden import NAMES, family, record

SECRET = bytes(range(32))
FACTS = RunFacts(requested=4, accepted=3, rejected=1, drafts=2, findings={"surface": 2})
CLAIMS = {"solvable": "the reference path succeeds"}
CERTIFICATE = {"record": "0" * 64, "runs": 7, "proofs": {"solvable": {}}}


def entry(data: Any) -> Entry:
    return Entry(family=parse_family(data), certificate=CERTIFICATE, provenance={"slot": data["family_id"]})


def build(out: Path, records: list[Any] | None = None, secret: bytes = SECRET) -> Path:
    entries = [entry(r) for r in (records or [record(n) for n in NAMES])]
    assemble(out, entries, secret, "0.1.0", FACTS, CLAIMS)
    return out


def files(directory: Path) -> dict[str, bytes]:
    return {p.relative_to(directory).as_posix(): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()}


def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    assert files(build(tmp_path / "one")) == files(build(tmp_path / "two"))


def test_the_order_of_families_does_not_matter(tmp_path: Path) -> None:
    backwards = [record(n) for n in reversed(NAMES)]
    assert files(build(tmp_path / "one")) == files(build(tmp_path / "two", backwards))


def test_another_secret_gives_other_ids_in_another_order(tmp_path: Path) -> None:
    ids = [
        [row["task_id"] for row in read_table(build(tmp_path / n, secret=s) / "public/data/tasks.parquet")]
        for n, s in (("one", SECRET), ("two", bytes(32)))
    ]
    assert not set(ids[0]) & set(ids[1])


def test_public_columns_are_those_of_the_allow_list(tmp_path: Path) -> None:
    out = build(tmp_path / "r")
    tasks, worlds = (read_table(out / f"public/data/{c}.parquet") for c in ("tasks", "worlds"))
    assert set(tasks[0]) == {"task_id", "environment", "instruction", "tools", "canary"}
    assert set(worlds[0]) == {"task_id", "world", "caller", "canary"}
    assert set(json.loads(worlds[0]["world"])) == {"clock", "schema", "rows", "transitions"}
    assert len(tasks) == len(worlds) == 4 * len(NAMES)
    assert [t["task_id"] for t in tasks] == sorted(t["task_id"] for t in tasks)


def test_the_two_worlds_differ_in_the_flip_alone(tmp_path: Path) -> None:
    out = build(tmp_path / "r", [record("refund_desk")])
    sibling = {r["task_id"]: r["sibling"] for r in read_table(out / "evaluation/data/tasks.parquet")}
    worlds = {sibling[r["task_id"]]: json.loads(r["world"]) for r in read_table(out / "public/data/worlds.parquet")}
    assert worlds["EB"] == worlds["HB"]
    assert worlds["CM"] == worlds["HS"]
    status = {s: {r["id"]: r["status"] for r in worlds[s]["rows"].pop("refunds")} for s in ("EB", "CM")}
    assert status["EB"]["R-9"] == "voided"
    assert status["CM"]["R-9"] == "settled"
    assert worlds["EB"] == worlds["CM"]


HIDDEN = ("category", "risk_class", "domain", "blueprint", "theme", "patterns", "authority", "judge", "paths")
"""Fields of a record that no public byte may depend on."""


def hidden_places(data: Any) -> Iterator[tuple[str, ...]]:
    """Every text or number of a hidden field, and those of siblings, flips and transitions that are hidden."""
    for name in HIDDEN:
        yield from leaves(data[name], (name,))
    for sibling in data["siblings"]:
        yield from leaves(data["siblings"][sibling]["claims"], ("siblings", sibling, "claims"))
    for number, flip in enumerate(data["flips"]):
        yield ("flips", str(number), "refused_by")
        if flip["id"] != data["forbidden"]:
            yield from leaves(flip["delta"], ("flips", str(number), "delta"))
    for tool, transition in data["world"]["transitions"].items():
        yield from leaves(transition.get("observes", []), ("world", "transitions", tool, "observes"))


def leaves(node: Any, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(node, dict | list):
        pairs = node.items() if isinstance(node, dict) else enumerate(node)
        for key, child in pairs:
            yield from leaves(child, (*place, str(key)))
    elif node is not None:
        yield place


def change(data: Any, place: tuple[str, ...]) -> None:
    *way, last = place
    for step in way:
        data = data[int(step)] if isinstance(data, list) else data[step]
    key: Any = int(last) if isinstance(data, list) else last
    old = data[key]
    if last == "op":
        data[key] = {"insert": "delete", "update": "insert", "delete": "update"}[old]
    elif last == "severity":
        data[key] = 1 + old % 3
    elif isinstance(old, bool):
        data[key] = not old
    elif isinstance(old, int | float):
        data[key] = old + 1
    else:
        data[key] = f"planted {old}"


@pytest.mark.parametrize("name", NAMES)
def test_no_public_byte_depends_on_a_hidden_field(tmp_path: Path, name: str) -> None:
    plain = files(build(tmp_path / "plain", [record(name)]) / "public")
    places = list(hidden_places(record(name)))
    assert len(places) > 100
    # All at once, and each kind of field by itself, so that two changes cannot hide each other.
    groups = [places, *([p for p in places if p[0] == top] for top in {p[0] for p in places})]
    for number, group in enumerate(groups):
        changed = record(name)
        for place in group:
            change(changed, place)
        public = files(build(tmp_path / str(number), [changed]) / "public")
        assert differing(plain, public) == {"manifest.json"}
        one, two = json.loads(plain["manifest.json"]), json.loads(public["manifest.json"])
        assert {k for k in one if one[k] != two[k]} == {"commitment"}


def differing(one: dict[str, bytes], two: dict[str, bytes]) -> set[str]:
    return {name for name in one.keys() | two.keys() if one.get(name) != two.get(name)}


def test_planted_hidden_values_are_nowhere_in_the_decoded_public_part(tmp_path: Path) -> None:
    data = record("partner_extract")
    for place in hidden_places(data):
        change(data, place)
    data["family_id"] = "planted-family"
    public = build(tmp_path / "r", [data]) / "public"
    decoded = [p.read_text(encoding="utf-8") for p in public.iterdir() if p.is_file()]
    for path in (public / "data").iterdir():
        for row in read_table(path):
            decoded += [json.dumps(json.loads(v), ensure_ascii=False) if v[:1] in "[{" else v for v in row.values()]
    assert decoded
    assert not [text for text in decoded if "planted" in text]
    assert SECRET.hex() not in "".join(decoded)


def test_datasets_loads_both_parts(tmp_path: Path) -> None:
    out = build(tmp_path / "r")
    script = (
        "import sys; from datasets import load_dataset\n"
        "for part, configs in (('public', ['tasks', 'worlds']), ('evaluation', ['tasks', 'families'])):\n"
        "    for config in configs:\n"
        "        d = load_dataset(f'{sys.argv[1]}/{part}', config, split='eval')\n"
        "        print(part, config, d.num_rows, *d.column_names)\n"
        "print(load_dataset(f'{sys.argv[1]}/public')['eval'].num_rows)\n"
    )
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
    said = subprocess.run(
        [sys.executable, "-c", script, str(out)], capture_output=True, text=True, env=environment, check=False
    )
    assert said.returncode == 0, said.stderr
    lines = said.stdout.splitlines()
    assert lines[0] == "public tasks 12 task_id environment instruction tools canary"
    assert lines[1] == "public worlds 12 task_id world caller canary"
    assert lines[2].startswith("evaluation tasks 12 task_id family_id sibling")
    assert lines[3].startswith("evaluation families 3 family_id record")
    assert lines[4] == "12"


def test_the_evaluation_part_gives_the_families_back(tmp_path: Path) -> None:
    held = read_evaluation(build(tmp_path / "r") / "evaluation")
    assert {f.family_id: f for f in held.families} == {f.family_id: f for f in map(family, NAMES)}
    assert set(held.certificates) == {f.family_id for f in held.families}


def test_verify_accepts_what_was_built_and_names_what_was_touched(tmp_path: Path) -> None:
    out = build(tmp_path / "r")
    verify(out / "public", out / "evaluation")
    card = out / "public" / "README.md"
    text = card.read_text(encoding="utf-8")
    card.write_text(text.replace("Tasks", "tasks", 1), encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"README\.md is not the file the manifest names"):
        verify(out / "public", out / "evaluation")
    card.write_text(text, encoding="utf-8")
    (out / "evaluation" / "extra.txt").write_text("x")
    with pytest.raises(ReleaseError, match=r"extra\.txt is not in the manifest"):
        verify(out / "public", out / "evaluation")
    (out / "evaluation" / "extra.txt").unlink()
    other = build(tmp_path / "other", [record("dispensary")])
    with pytest.raises(ReleaseError, match=r"is not what .* is committed to"):
        verify(out / "public", other / "evaluation")


def test_the_public_part_is_no_evaluation_part(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="public part, which holds no labels"):
        read_evaluation(build(tmp_path / "r") / "public")


def test_a_release_is_left_alone_where_it_is_the_same_and_refused_where_it_is_not(tmp_path: Path) -> None:
    out = build(tmp_path / "r")
    before = {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()}
    build(out)
    assert {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()} == before
    with pytest.raises(ReleaseError, match="holds another release"):
        build(out, [record("dispensary")])
    assert {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()} == before
    assert not out.with_name("r.new").exists()


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *_args: Any, **_options: Any) -> int:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(StoreFull, match="No space left on device; make room"):
        build(tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no accepted family"):
        assemble(tmp_path / "r", [], SECRET, "0.1.0", FACTS, CLAIMS)


def test_numbers_of_the_card_follow_the_rows(tmp_path: Path) -> None:
    card = (build(tmp_path / "three") / "evaluation/README.md").read_text(encoding="utf-8")
    assert "12 tasks of 3 families, proved by 21 runs" in card
    assert "| fraud | 4 |" in card
    card = (build(tmp_path / "one", [record("refund_desk")]) / "evaluation/README.md").read_text(encoding="utf-8")
    assert "4 tasks of 1 families, proved by 7 runs" in card
    assert "drugs" not in card


def test_the_card_tells_a_gate_that_held_from_one_that_could_not_fail(tmp_path: Path) -> None:
    gates = {
        "quotas": {"passed": True, "figures": {"rows": 3}},
        "skeletons": {"passed": True, "figures": {"largest_share": 0.3, "binds": False}},
        "claims": {"passed": True, "figures": {"CM": 0.31, "binds": True}},
        "schemas": {"passed": False, "figures": {"rows": 2}},
    }
    facts = FACTS.model_copy(update={"gates": gates})
    assemble(tmp_path / "r", [entry(record(n)) for n in NAMES], SECRET, "0.1.0", facts, CLAIMS)
    lines = (tmp_path / "r/evaluation/README.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith(tuple(f"| {g} |" for g in gates))] == [
        "| quotas | held | rows 3 |",
        "| skeletons | measured; too few families for it to bind | largest_share 0.3 |",
        "| claims | held | CM 0.31 |",
        "| schemas | did not hold | rows 2 |",
    ]


def test_the_bundle_opens_for_its_recipient_and_holds_the_part(tmp_path: Path) -> None:
    import io
    import tarfile

    import pyrage

    identity = pyrage.x25519.Identity.generate()
    out = tmp_path / "r"
    entries = [entry(record(n)) for n in NAMES]
    assemble(out, entries, SECRET, "0.1.0", FACTS, CLAIMS, recipients=[str(identity.to_public())])
    packed = pyrage.decrypt((out / "evaluation/evaluation.age").read_bytes(), [identity])
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        names = set(tar.getnames())
    assert {"data/tasks.parquet", "data/families.parquet", "secret.json", "README.md"} <= names
    with pytest.raises(ReleaseError, match="no age public key"):
        assemble(tmp_path / "s", entries, SECRET, "0.1.0", FACTS, CLAIMS, recipients=["age1nonsense"])


def test_every_file_carries_the_canary(tmp_path: Path) -> None:
    out = build(tmp_path / "r")
    guid = read_manifest(out / "public")["canary"].encode()
    assert [name for name, data in files(out).items() if guid not in data] == []
