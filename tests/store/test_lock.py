"""One writer at a time, and a lock that ends with its process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentbound.data.store import RunView, StageDone, open_run
from agentbound.errors import StoreBusy, StoreError, UsageError
from store.samples import finish, make_plan

TESTS = Path(__file__).parent.parent

HOLD = """
import os, sys
from pathlib import Path
from agentbound.data.store import open_run
from store.samples import make_plan
store = open_run(Path(sys.argv[1]), make_plan())
if sys.argv[2] == "worker" and os.fork() == 0:
    print(os.getpid(), flush=True)  # the worker outlives its parent
    sys.stdin.read()
    os._exit(0)
if sys.argv[2] == "alone":
    print(os.getpid(), flush=True)
sys.stdin.read()
"""


def holder(run: Path, kind: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(run), kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(TESTS)},
    )


def test_a_second_writer_is_told_who_is_writing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with holder(run, "alone") as process:
        assert process.stdout is not None
        pid = process.stdout.readline().strip()
        assert int(pid) == process.pid
        with pytest.raises(StoreBusy, match=f"process {pid} is writing to .*run"):
            open_run(run, make_plan())
        with RunView(run) as view:  # readers come and go
            assert view.writer == process.pid
        process.kill()
        process.wait()
        with RunView(run) as view:
            assert view.writer is None
        open_run(run, make_plan()).close()


def test_a_worker_that_outlives_its_killed_parent_shuts_nobody_out(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with holder(run, "worker") as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        process.kill()
        process.wait()
        os.kill(worker, 0)  # it lives
        with open_run(run, make_plan()) as store:
            finish(store)


def test_two_writers_in_one_process(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", make_plan()) as first:
        with pytest.raises(StoreBusy, match=f"process {os.getpid()}"):
            open_run(tmp_path / "run", make_plan())
        finish(first)
    with RunView(tmp_path / "run") as view:
        assert view.writer is None


def test_a_closed_store_refuses_to_write(tmp_path: Path) -> None:
    store = open_run(tmp_path / "run", make_plan())
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed in this process"):
        store.append(StageDone(stage="validate", shard="0"))


def test_an_error_while_opening_lets_go(tmp_path: Path) -> None:
    open_run(tmp_path / "run", make_plan()).close()
    for _ in range(2):
        with pytest.raises(UsageError, match="other options"):
            open_run(tmp_path / "run", make_plan(9))
    open_run(tmp_path / "run", make_plan()).close()
