"""The main job as a whole process: wall time, memory, and how both grow with the number of families."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

MAX_SECONDS = 75
MAX_MEGABYTES = 600
MAX_GROWTH = 1.1


@dataclass(frozen=True)
class Measured:
    """Wall seconds, and the peak of one process of the tree in megabytes."""

    seconds: float
    megabytes: float


def measure(*words: str | Path) -> Measured:
    """Run the command and wait for it; the figures are the operating system's."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "agentbound.flows.cli", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return Measured(time.monotonic() - began, usage.ru_maxrss / 1024)


def say(line: str) -> None:
    """Figures are printed past pytest's capture."""
    print(f"\n{line}", file=sys.__stderr__)


def test_the_quick_preset_in_time_and_memory(tmp_path: Path) -> None:
    got = measure("build", "--preset", "quick", "--out", tmp_path / "quick", "--workers", "2")
    say(
        f"build --preset quick: {got.seconds:.1f} s wall (at most {MAX_SECONDS}), {got.megabytes:.0f} MB (at most {MAX_MEGABYTES})"
    )
    assert got.seconds <= MAX_SECONDS
    assert got.megabytes <= MAX_MEGABYTES


@pytest.mark.parametrize("small", [28])
def test_ten_times_the_families_cost_at_most_eleven_times_the_time(tmp_path: Path, small: int) -> None:
    """Prefect's start, which is the same for both, is taken off by building one family first."""
    start = measure("build", "--families", "1", "--out", tmp_path / "one", "--workers", "2").seconds
    one = measure("build", "--families", str(small), "--out", tmp_path / "small", "--workers", "2").seconds - start
    ten = measure("build", "--families", str(10 * small), "--out", tmp_path / "large", "--workers", "2").seconds - start
    say(
        f"{small} families {one:.1f} s, {10 * small} families {ten:.1f} s beside the start: {ten / one:.1f} times, exponent {math.log10(ten / one):.2f}"
    )
    assert math.log10(ten / one) <= MAX_GROWTH


def test_help_is_there_at_once() -> None:
    times = sorted(measure("--help").seconds for _ in range(5))
    say(f"agentbound --help: median {times[2]:.2f} s (at most 0.5)")
    assert times[2] <= 0.5
