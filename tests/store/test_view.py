"""The reading side: what came of the slots, from any process, whatever state the index is in."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbound.data.canonical import digest
from agentbound.data.store import (
    Accepted,
    DraftRejected,
    FindingCount,
    Rejected,
    ReleaseAssembled,
    RunView,
    open_run,
)
from agentbound.data.store.index import INDEX_FILE
from agentbound.errors import RunVersionError, StoreCorrupt, StoreError, UsageError
from store.samples import FINDING, family, finish, make_plan, settle_many


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Six slots, of which s5 is open: s0, s1, s3, s4 accepted, s2 rejected."""
    with open_run(tmp_path / "run", make_plan()) as store:
        settle_many(store, ["s1", "s0", "s2", "s3", "s4"])
    return tmp_path / "run"


def test_outcomes_are_in_the_plan_s_order(run: Path) -> None:
    with RunView(run) as view:
        assert [(row.slot, row.outcome) for row in view.slots()] == [
            ("s0", "accepted"),
            ("s1", "accepted"),
            ("s2", "rejected"),
            ("s3", "accepted"),
            ("s4", "accepted"),
            ("s5", "pending"),
        ]
        rows = view.outcomes()
    assert [row.slot for row in rows] == ["s0", "s1", "s2", "s3", "s4"]
    assert (rows[1].category, rows[1].risk_class, rows[1].attempts) == ("drugs", "class1", 2)
    assert (rows[1].family_id, rows[1].family, rows[1].reasons) == ("family-s1", digest(family("s1")), [])
    assert (rows[2].family, rows[2].reasons) == (None, ["nothing could be proved of it"])


@pytest.mark.parametrize("name", ["s1", "family-s1"])
def test_a_family_by_slot_or_id(run: Path, name: str) -> None:
    with RunView(run) as view:
        found = view.family(name)
    assert (found.slot, found.family_id, found.digest) == ("s1", "family-s1", digest(family("s1")))
    assert found.record == family("s1")
    assert found.certificate == {"record": "s1"}


def test_a_family_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", make_plan()) as store:
        for slot, family_id in (("s0", "ab12"), ("s1", "ab1"), ("s2", "cd3")):
            store.append(
                Accepted(slot=slot, stage="validate", family_id=family_id, family=store.put(family_id), attempts=1)
            )
    with RunView(tmp_path / "run") as view:
        assert view.family("c").record == "cd3"
        assert view.family("ab1").record == "ab1", "a whole id is no mere beginning"
        assert view.family("c").certificate is None
        with pytest.raises(UsageError, match="several families: ab1, ab12; name more"):
            view.family("a")
        with pytest.raises(UsageError, match="several families"):
            view.family("")
        for name in ("x", "%", "s3"):
            with pytest.raises(UsageError, match="no accepted family"):
                view.family(name)


def test_drafts_with_their_findings(run: Path) -> None:
    with RunView(run) as view:
        (on_the_way,) = view.drafts("s1")
        assert (on_the_way.raw, on_the_way.attempt, on_the_way.final) == ("raw text of s1", 1, False)
        assert on_the_way.findings == [FINDING.model_dump(mode="json")]
        (last,) = view.drafts("s2")
        assert (last.raw, last.attempt, last.final) == ("raw text of s2", 2, True)
        assert view.drafts("s0") == []
        with pytest.raises(UsageError, match="not asked for a slot s77"):
            view.drafts("s77")


def test_a_draft_that_was_recorded_and_ended_with_is_told_once(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", make_plan()) as store:
        same = store.put_draft("the same twice", [])
        tries = [DraftRejected(slot="s0", stage="validate", attempt=n, draft=same, codes=[]) for n in (1, 2)]
        end = Rejected(slot="s0", stage="validate", reasons=["spent"], draft=same, attempts=2)
        store.append_many([*tries, end])
    with RunView(tmp_path / "run") as view:
        assert [(draft.attempt, draft.final) for draft in view.drafts("s0")] == [(1, False), (2, True)]


def test_findings_are_counted_by_stage_category_and_code(run: Path) -> None:
    with RunView(run) as view:
        assert view.counts() == [
            FindingCount(stage="validate", category="drugs", code="bound", outcome="accepted", count=6),
            FindingCount(stage="validate", category="drugs", code="solvable", outcome="accepted", count=2),
            FindingCount(stage="validate", category="fraud", code="solvable", outcome="rejected", count=2),
        ]


def test_queries_from_several_threads(run: Path) -> None:
    with RunView(run) as view, ThreadPoolExecutor(4) as pool:
        counted = list(pool.map(lambda _: view.query("SELECT count(*) AS n FROM outcomes"), range(20)))
    assert counted == [[{"n": 5}]] * 20


def test_a_reader_sees_what_was_recorded_since(run: Path) -> None:
    with open_run(run, make_plan()) as store:
        with RunView(run) as view:
            assert len(view.outcomes()) == 5
        finish(store)
        with RunView(run) as view:
            assert len(view.outcomes()) == 6
            assert view.writer == os.getpid()


def test_a_torn_end_is_left_out(run: Path) -> None:
    path = run / "events" / "000001.jsonl"
    path.write_bytes(path.read_bytes() + b'{"sha256":"12')
    with RunView(run) as view:
        assert len(view.outcomes()) == 5


class TestIndex:
    def test_it_is_kept_while_it_fits(self, run: Path) -> None:
        RunView(run).close()
        with RunView(run) as view:
            view.query("CREATE TABLE mark (n INTEGER)")
        with RunView(run) as view:
            assert view.query("SELECT count(*) AS n FROM mark") == [{"n": 0}]
        (run / INDEX_FILE).unlink()
        with RunView(run) as view:
            assert len(view.outcomes()) == 5

    @pytest.mark.parametrize("content", [b"", b"not a database" * 1000])
    def test_a_broken_one_is_built_again(self, run: Path, content: bytes) -> None:
        RunView(run).close()
        (run / INDEX_FILE).write_bytes(content)
        with RunView(run) as view:
            assert len(view.outcomes()) == 5
        with RunView(run) as view:
            assert view.query("SELECT current_database() AS name") == [{"name": "index"}]

    def test_one_of_somebody_else_s_making_is_filled(self, run: Path) -> None:
        import duckdb

        with duckdb.connect(str(run / INDEX_FILE)) as connection:
            connection.execute("CREATE TABLE state (other INTEGER)")
        with RunView(run) as view:
            assert len(view.outcomes()) == 5

    def test_while_another_process_has_it(self, run: Path) -> None:
        script = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(flush=True); sys.stdin.read()"
        with subprocess.Popen(
            [sys.executable, "-c", script, str(run / INDEX_FILE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as other:
            assert other.stdout is not None
            other.stdout.readline()
            with RunView(run) as view:
                assert len(view.outcomes()) == 5
                assert view.query("SELECT current_database() AS name") == [{"name": "memory"}]
            other.kill()
        with RunView(run) as view:
            assert view.query("SELECT current_database() AS name") == [{"name": "index"}]

    def test_where_it_cannot_be_written(self, run: Path) -> None:
        (run / INDEX_FILE).mkdir()
        with RunView(run) as view:
            assert len(view.outcomes()) == 5

    def test_damage_is_told_though_the_index_fitted(self, run: Path) -> None:
        RunView(run).close()
        path = run / "events" / "000001.jsonl"
        before = path.stat()
        path.write_bytes(path.read_bytes().replace(b"family-s0", b"family-z0"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
        with pytest.raises(StoreCorrupt, match=r"events/000001\.jsonl is damaged in line"):
            RunView(run)

    def test_a_damaged_object_is_told_when_it_is_read(self, run: Path) -> None:
        RunView(run).close()
        path = run / "objects" / "000001.jsonl"
        before = path.stat()
        path.write_bytes(path.read_bytes().replace(b'"family_id":"family-s0"', b'"family_id":"family-z0"'))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        with RunView(run) as view:
            assert view.family("s1").record == family("s1")
            with pytest.raises(StoreCorrupt, match="damaged at byte"):
                view.family("s0")

    @given(st.text(), st.text())
    def test_any_text_can_be_indexed(self, tmp_path_factory: pytest.TempPathFactory, reason: str, code: str) -> None:
        run = tmp_path_factory.mktemp("runs") / "run"
        with open_run(run, make_plan()) as store:
            store.append(Rejected(slot="s0", stage="v", reasons=[reason], attempts=1, findings={code: 1}))
            store.append(ReleaseAssembled(version="1", path="release", content_hash="", data={code: reason}))
        with RunView(run) as view:
            assert view.outcomes()[0].reasons == [reason.encode("utf-8", "replace").decode()]
            assert [count.count for count in view.counts()] == [1]


def test_a_directory_that_is_no_run(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match="is no run"):
            RunView(path)


def test_a_run_of_another_format(run: Path) -> None:
    (run / "run.json").write_text('{"format":2}')
    with pytest.raises(RunVersionError, match="format 2"):
        RunView(run)


def test_an_object_by_its_digest(run: Path) -> None:
    with RunView(run) as view:
        assert view.get(digest(family("s0"))) == family("s0")
        with pytest.raises(UsageError, match="no object"):
            view.get("0" * 64)


def test_writing_needs_no_duckdb(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from agentbound.data.store import open_run
from store.samples import finish, make_plan
with open_run(Path(sys.argv[1]), make_plan()) as store:
    finish(store)
print(sorted({"duckdb", "pyarrow", "polars"} & sys.modules.keys()))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "run")],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "[]\n"


def test_errors_are_of_the_store(run: Path) -> None:
    assert issubclass(StoreCorrupt, StoreError)
    (run / "events" / "000001.jsonl").unlink()
    (run / "events" / "000001.jsonl").mkdir()
    with pytest.raises(StoreError, match="cannot be read"):
        RunView(run)
