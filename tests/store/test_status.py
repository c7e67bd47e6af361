"""How far runs are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentbound.data import store as public
from agentbound.data.store import GateResult, ReleaseAssembled, Tally, open_run, runs, status
from agentbound.errors import UsageError
from store.samples import SECRET, finish, make_plan, settle_many


def test_a_run_under_way(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with open_run(run, make_plan(), SECRET) as store:
        settle_many(store, ["s0", "s1", "s2", "s3"])
        store.append_many([GateResult(gate="audit", passed=False), GateResult(gate="quotas", passed=True)])
        found = status(run)
    assert found.writer == os.getpid()
    assert found.options == {"preset": "quick", "families": 6}
    assert found.total == Tally(requested=6, accepted=3, rejected=1, pending=2)
    assert found.by_category == {
        "fraud": Tally(requested=3, accepted=1, rejected=1, pending=1),
        "drugs": Tally(requested=3, accepted=2, rejected=0, pending=1),
    }
    assert list(found.by_category) == ["fraud", "drugs"]
    assert found.by_class["class0"] == Tally(requested=2, accepted=2)
    assert found.by_stage == {"validate": Tally(requested=4, accepted=3, rejected=1)}
    assert list(found.findings.items()) == [("bound", 6), ("solvable", 4)]
    assert found.gates == {"audit": False, "quotas": True}
    assert (found.release, found.release_version) == (None, None)
    assert SECRET not in found.model_dump_json()


def test_a_finished_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with open_run(run, make_plan()) as store:
        finish(store)
        for version in ("0.2.0", "0.1.0"):
            store.append(ReleaseAssembled(version=version, path=f"release-{version}", content_hash="ab"))
        store.append(ReleaseAssembled(version="0.2.0", path="release-again", content_hash="cd"))
    found = status(run)
    assert found.total == Tally(requested=6, accepted=4, rejected=2)
    assert (found.release, found.release_version) == (run / "release-again", "0.2.0")
    assert found.writer is None


def test_an_empty_run(tmp_path: Path) -> None:
    open_run(tmp_path / "run", make_plan(0)).close()
    found = status(tmp_path / "run")
    assert (found.total, found.by_category, found.by_stage, found.findings) == (Tally(), {}, {}, {})


def test_runs_are_listed_the_newest_last_and_the_unreadable_with_their_fault(tmp_path: Path) -> None:
    for age, name in enumerate(["b", "a", "broken", "old"]):
        with open_run(tmp_path / name, make_plan()) as store:
            settle_many(store, ["s0"])
        os.utime(tmp_path / name / "run.json", (1_000_000_000 + age, 1_000_000_000 + age))
    path = tmp_path / "broken" / "events" / "000001.jsonl"
    path.write_bytes(b"x" + path.read_bytes())
    (tmp_path / "old" / "run.json").write_text('{"format":0}')
    (tmp_path / "no-run").mkdir()
    found = runs(tmp_path)
    assert [summary.run.name for summary in found] == ["b", "a", "broken", "old"]
    assert found[0].made.timestamp() == 1_000_000_000
    assert found[0].total == Tally(requested=6, accepted=1, pending=5)
    assert [summary.fault is None for summary in found] == [True, True, False, False]
    assert "damaged in line 1" in str(found[2].fault)
    assert "format 0" in str(found[3].fault)


def test_no_directory_of_runs(tmp_path: Path) -> None:
    assert runs(tmp_path) == []
    with pytest.raises(UsageError, match="is no directory"):
        runs(tmp_path / "nowhere")


def test_public_names() -> None:
    assert all(hasattr(public, name) for name in public.__all__)
    defined = {
        name for name, value in vars(public).items() if getattr(value, "__module__", "").startswith(public.__name__)
    }
    assert defined == set(public.__all__) - {"FORMAT", "Event", "Outcome"}
