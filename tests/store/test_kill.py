"""`kill -9` at random moments: nothing confirmed is lost, nothing doubled, and the end is byte for byte the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from agentbound.data.store import open_run
from store.killed import BATCH, SIZE, SLOTS
from store.samples import SECRET, content, finish, make_plan

ROUNDS = 20


def test_a_writer_killed_twenty_times(tmp_path: Path) -> None:
    run = tmp_path / "run"
    script = Path(__file__).with_name("killed.py")
    done = subprocess.run(
        [sys.executable, str(script), str(run), str(ROUNDS), "7"],
        env=os.environ | {"PYTHONPATH": str(script.parent.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    confirmed, _ = map(int, done.stdout.split())
    assert 0 < confirmed < SLOTS
    for path in (run, tmp_path / "whole"):
        with open_run(path, make_plan(SLOTS), SECRET, segment_bytes=200_000) as store:
            finish(store, batch=BATCH, size=SIZE)
            assert store.pending() == []
    assert content(run) == content(tmp_path / "whole")
