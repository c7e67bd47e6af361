"""The writing side: a run is made once, gone on with, and contradicts neither itself nor what was asked for."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbound.data.canonical import canonical, digest
from agentbound.data.store import (
    Accepted,
    DraftRejected,
    Event,
    GateResult,
    Plan,
    Rejected,
    ReleaseAssembled,
    Slot,
    StageDone,
    open_run,
    read_secret,
)
from agentbound.errors import RunVersionError, StoreCorrupt, StoreError, UsageError
from store.samples import FINDING, SECRET, family, finish, logs, make_plan, settle, settle_many


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    run = tmp_path / "deep" / "run"
    with open_run(run, make_plan(), SECRET) as store:
        settle_many(store, ["s0", "s1", "s2"])
    with open_run(run, make_plan()) as store:
        assert store.secret == SECRET
        assert store.notices == []
        assert [slot.id for slot in store.pending()] == ["s3", "s4", "s5"]
        assert [(s, o.kind) for s, o in store.outcomes().items()] == [
            ("s0", "accepted"),
            ("s1", "accepted"),
            ("s2", "rejected"),
        ]
        accepted = store.outcome("s1")
        assert isinstance(accepted, Accepted)
        assert store.get(accepted.family) == family("s1")
        assert store.slot_of("family-s1") == "s1"
        assert store.outcome("s3") is None
        (draft,) = store.drafts("s1")
        kept = store.get(draft.draft)
        assert kept == {"raw": "raw text of s1", "findings": [FINDING.model_dump(mode="json")]}


def test_other_events_are_found_again(tmp_path: Path) -> None:
    events: list[Event] = [
        StageDone(stage="validate", shard="0", data={"seconds": 1}),
        GateResult(gate="audit", passed=False),
        GateResult(gate="audit", passed=True, data={"auc": 0.5}),
        ReleaseAssembled(version="0.1.0", path="release", content_hash="ab"),
    ]
    with open_run(tmp_path / "run", make_plan()) as store:
        assert store.append_many(events) == 3  # of two results in one batch the latest counts
        assert store.append(events[0]) == 0
    with open_run(tmp_path / "run", make_plan()) as store:
        assert store.stage("validate", "0") == events[0]
        assert store.stage("validate", "1") is None
        assert store.gate("audit") == events[2]
        assert store.release("0.1.0") == events[3]
        assert store.append(events[1]) == 1
        assert store.gate("audit") == events[1]


def test_the_same_again_changes_nothing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with open_run(run, make_plan()) as store:
        settle_many(store, ["s0", "s1", "s2"])
        before = logs(run)
        settle_many(store, ["s0", "s1", "s2"])
        assert logs(run) == before
    with open_run(run, make_plan()) as store:
        settle_many(store, ["s2", "s1", "s0"])
        assert logs(run) == before


@given(st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=6), st.data())
def test_any_repetition_leaves_the_logs_of_the_first_time(batches: list[list[int]], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as directory:
        run = Path(directory) / "run"
        for batch in batches:
            with open_run(run, make_plan(), SECRET) as store:
                settle_many(store, [f"s{n}" for n in batch])
        if not batches:
            open_run(run, make_plan(), SECRET).close()
        before = logs(run)
        asked = {f"s{n}" for batch in batches for n in batch}
        with open_run(run, make_plan(), SECRET) as store:
            assert store.outcomes().keys() == asked
            assert {slot.id for slot in store.pending()} == {slot.id for slot in store.plan.slots} - asked
            if asked:
                again = data.draw(st.lists(st.sampled_from(sorted(asked)), max_size=12), label="again")
                settle_many(store, again)
        assert logs(run) == before


def test_equal_content_is_kept_once(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with open_run(run, make_plan()) as store:
        first = store.put({"text": "x" * 1000, "n": 25.0})
        assert store.put({"n": 25, "text": "x" * 1000}) == first == digest({"n": 25, "text": "x" * 1000})
        assert store.get(first)["n"] == 25
        store.append(Accepted(slot="s0", stage="v", family_id="f0", family=first, attempts=1))
        store.put({"text": "x" * 1000, "n": 25.0})
        store.append(Accepted(slot="s1", stage="v", family_id="f1", family=first, attempts=1))
    assert logs(run)["objects/000001.jsonl"].count(b"\n") == 1


def test_the_first_outcome_is_final(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with open_run(run, make_plan()) as store:
        settle_many(store, ["s0"])
        before = logs(run)
        other = Rejected(slot="s0", stage="validate", reasons=["on second thoughts"], attempts=1)
        with pytest.raises(StoreError, match="s0 is accepted already"):
            store.append_many([*settle(store, "s1"), other])
        assert logs(run) == before, "a batch that contradicts the run leaves nothing"
        assert store.outcome("s1") is None
        twice = [other.model_copy(update={"slot": "s3", "attempts": n}) for n in (1, 2)]
        with pytest.raises(StoreError, match="s3 is rejected already"):
            store.append_many(twice)


def test_a_family_is_of_one_slot(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", make_plan()) as store:
        (first,) = settle(store, "s0")
        second = first.model_copy(update={"slot": "s4"})
        with pytest.raises(StoreError, match="family-s0 was accepted for slot s0"):
            store.append_many([first, second])
        store.append(first)
        with pytest.raises(StoreError, match="family-s0 was accepted for slot s0"):
            store.append(second)


def test_unknown_slots_and_objects_are_refused(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", make_plan()) as store:
        nowhere = DraftRejected(slot="s77", stage="v", attempt=1, draft=store.put("x"), codes=[])
        with pytest.raises(StoreError, match="not asked for slot s77"):
            store.append(nowhere)
        with pytest.raises(StoreError, match="was not put"):
            store.append(nowhere.model_copy(update={"slot": "s0", "draft": "0" * 64}))
        with pytest.raises(StoreError, match="holds no object"):
            store.get("0" * 64)


def test_other_options_are_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    open_run(run, make_plan(workers=None)).close()
    with pytest.raises(UsageError, match=r"families \(6 then, 4 now\), version \(null then, \"2\" now\)") as caught:
        open_run(run, make_plan(4, version="2"))
    assert "preset" not in str(caught.value)
    slots = tuple(Slot(id=f"x{i}", category="fraud", risk_class="c") for i in range(6))
    with pytest.raises(UsageError, match="asked for other slots"):
        open_run(run, Plan(options=make_plan(workers=None).options, slots=slots))


def test_a_slot_is_asked_for_once(tmp_path: Path) -> None:
    plan = make_plan()
    with pytest.raises(UsageError, match="asked twice for a slot: s1"):
        open_run(tmp_path / "run", Plan(options={}, slots=(*plan.slots, plan.slots[1])))


def test_another_format_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    open_run(run, make_plan()).close()
    sealed = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(canonical(sealed | {"format": 99}))
    with pytest.raises(
        RunVersionError, match=r"format 99 and this version of agentbound reads format 1; .*another directory"
    ):
        open_run(run, make_plan())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format":1}', '{"format":1,"sha256":"","plan":{}}', "\ud800"])
def test_a_damaged_plan_is_refused(tmp_path: Path, text: str) -> None:
    run = tmp_path / "run"
    open_run(run, make_plan()).close()
    (run / "run.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(StoreCorrupt, match=r"run\.json is damaged"):
        open_run(run, make_plan())


def test_a_changed_plan_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    open_run(run, make_plan()).close()
    text = (run / "run.json").read_text()
    (run / "run.json").write_text(text.replace("quick", "quack"))
    with pytest.raises(StoreCorrupt, match=r"run\.json is damaged"):
        open_run(run, make_plan(preset="quack"))


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"thesis\.txt and is no run"):
        open_run(tmp_path, make_plan())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("mine")
    with pytest.raises(StoreError, match="a file is in the way"):
        open_run(tmp_path / "run", make_plan())


def test_a_start_that_was_killed_early_is_gone_on_with(tmp_path: Path) -> None:
    run = tmp_path / "run"
    open_run(run, make_plan(), SECRET).close()
    for leftover in ("run.json", "events", "objects"):
        path = run / leftover
        path.unlink() if path.is_file() else path.rmdir()
    (run / "run.json.tmp").write_text('{"for')
    (run / "secret.tmp").write_text("5e")
    with open_run(run, make_plan()) as store:
        assert store.secret == SECRET
        finish(store)
    assert not list(run.glob("*.tmp"))


class TestSecret:
    def test_a_new_one_is_made_and_kept_private(self, tmp_path: Path) -> None:
        with open_run(tmp_path / "a", make_plan()) as a, open_run(tmp_path / "b", make_plan()) as b:
            assert a.secret != b.secret
        path = tmp_path / "a" / "secret"
        assert path.stat().st_mode & 0o777 == 0o600
        assert read_secret(path) == a.secret
        with open_run(tmp_path / "a", make_plan()) as again:
            assert again.secret == a.secret

    def test_another_one_is_refused_without_being_shown(self, tmp_path: Path) -> None:
        open_run(tmp_path / "run", make_plan(), SECRET.upper() + "\n").close()
        other = "0f" * 32
        with pytest.raises(UsageError, match="made with another secret") as caught:
            open_run(tmp_path / "run", make_plan(), other)
        assert SECRET not in str(caught.value)
        assert other not in str(caught.value)

    @pytest.mark.parametrize("text", ["", "5e" * 31, "xy" * 32, "5e" * 33])
    def test_a_wrong_form_is_refused_without_being_shown(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(UsageError, match="64 hexadecimal digits") as caught:
            open_run(tmp_path / "run", make_plan(), text)
        assert not text or text not in str(caught.value)
        assert not (tmp_path / "run" / "run.json").exists()

    def test_a_file_that_cannot_be_read_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="nowhere"):
            read_secret(tmp_path / "nowhere")
        (tmp_path / "bytes").write_bytes(b"\xff\xfe")
        with pytest.raises(UsageError, match="bytes"):
            read_secret(tmp_path / "bytes")

    def test_a_lost_one_is_not_replaced(self, tmp_path: Path) -> None:
        open_run(tmp_path / "run", make_plan(), SECRET).close()
        (tmp_path / "run" / "secret").unlink()
        with pytest.raises(StoreError, match="secret is missing"):
            open_run(tmp_path / "run", make_plan(), SECRET)

    def test_it_stands_in_no_other_file(self, tmp_path: Path) -> None:
        with open_run(tmp_path / "run", make_plan(), SECRET) as store:
            finish(store)
        files = [
            path for path in (tmp_path / "run").rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
        ]
        assert [path.name for path in files] == ["secret"]


def test_a_lost_object_is_damage(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with open_run(run, make_plan()) as store:
        finish(store)
    path = run / "objects" / "000001.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(StoreCorrupt, match="has lost the object"):
        open_run(run, make_plan())


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_a_lost_event_is_damage(tmp_path: Path, lost: int) -> None:
    run = tmp_path / "run"
    with open_run(run, make_plan()) as store:
        finish(store)
    path = run / "events" / "000001.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for i, line in enumerate(lines) if i != lost))
    with pytest.raises(StoreCorrupt, match=rf"line {lost + 1}: event {lost} should stand here, not {lost + 1}"):
        open_run(run, make_plan())


@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.data())
def test_a_torn_batch_is_dropped_said_and_made_again(sizes: list[int], data: st.DataObject) -> None:
    """Cut the events anywhere: whole batches are left, and finishing gives the bytes of a run that was never cut."""
    with tempfile.TemporaryDirectory() as directory:
        run, plan = Path(directory) / "run", make_plan(sum(sizes))
        ends = [0]
        with open_run(run, plan, SECRET) as store:
            for size in sizes:
                settle_many(store, [slot.id for slot in store.pending()[:size]])
                ends.append((run / "events" / "000001.jsonl").stat().st_size)
        whole = logs(run)
        cut = data.draw(st.integers(0, ends[-1]), label="kept bytes")
        (run / "events" / "000001.jsonl").write_bytes(whole["events/000001.jsonl"][:cut])
        kept = sum(end <= cut for end in ends) - 1
        with open_run(run, plan) as store:
            assert len(store.outcomes()) == sum(sizes[:kept])
            assert len(store.notices) == (cut not in ends)
            if store.notices:
                assert f"{cut - ends[kept]} bytes of it were dropped" in store.notices[0]
            for size in sizes[kept:]:
                settle_many(store, [slot.id for slot in store.pending()[:size]])
            assert store.pending() == []
        assert logs(run) == whole
