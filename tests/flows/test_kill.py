"""A build that is killed at any moment and started again gives what an uninterrupted one gives."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from pathlib import Path

import pytest

from agentbound.data.store import status

FAMILIES = 8
KILLS = 20
SCRIPT = Path(__file__).with_name("killed.py")


def start(run: Path, secret: Path, said: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(SCRIPT), str(run), str(secret), str(FAMILIES)]
    with said.open("wb") as errors:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)


def hashes(run: Path) -> dict[str, str]:
    """Every file of the release, and what was recorded, by the hash of its bytes."""
    kept = [
        *sorted((run / "release").rglob("*")),
        *sorted((run / "events").iterdir()),
        *sorted((run / "objects").iterdir()),
    ]
    return {p.relative_to(run).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in kept if p.is_file()}


@pytest.mark.slow
def test_twenty_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("5e" * 32 + "\n")
    whole, said = tmp_path / "whole", tmp_path / "said"
    assert start(whole, secret, said).wait() == 0, said.read_text()
    wanted = hashes(whole)
    chance = random.Random(20)
    run, killed, finished = tmp_path / "run-0", 0, 0
    while killed < KILLS or not finished:
        process = start(run, secret, said)
        try:
            # A moment between the start of the interpreter and the end of the release.
            process.wait(chance.uniform(0.5, 3.0) if killed < KILLS else None)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            killed += 1
            continue
        assert process.returncode == 0, said.read_text()
        assert hashes(run) == wanted
        total = status(run).total
        assert (total.requested, total.accepted + total.rejected, total.pending) == (FAMILIES, FAMILIES, 0)
        finished += 1
        run = tmp_path / f"run-{finished}"
