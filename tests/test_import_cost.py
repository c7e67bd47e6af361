"""`agentbound --help` answers at once: nothing heavy is imported on the way to it."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import pytest

HEAVY = ("anthropic", "datasets", "dspy", "duckdb", "openai", "pandera", "polars", "prefect", "pyarrow", "sklearn")

LIMIT_SECONDS = 1.0
"""Of CPU, twice what is promised for a quiet machine; the promise itself is measured by `make bench`."""

HELP = """
import json, sys
sys.argv = ["agentbound", *json.loads(sys.argv[1])]
from agentbound.flows.cli import main
try:
    code = main()
except SystemExit as end:
    code = end.code
print(json.dumps({"code": code or 0, "modules": sorted({m.partition(".")[0] for m in sys.modules})}), file=sys.stderr)
"""


def run_cli(*arguments: str) -> tuple[str, set[str], float]:
    """What the command printed, the top-level modules it had loaded at the end, and the CPU seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", HELP, json.dumps(arguments)], capture_output=True, text=True, check=True, timeout=60
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads(done.stderr.splitlines()[-1])
    assert report["code"] == 0
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, set(report["modules"]), seconds


@pytest.mark.parametrize("arguments", [["--help"], ["build", "--help"], ["prove", "--help"], ["show", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    printed, modules, _ = run_cli(*arguments)
    assert "Usage" in printed
    assert modules.isdisjoint(HEAVY)


def test_help_is_quick() -> None:
    assert min(run_cli("--help")[2] for _ in range(3)) < LIMIT_SECONDS


def test_the_check_sees_a_heavy_import() -> None:
    """Were the list of loaded modules read wrongly, the tests above could not fail."""
    probe = "import sys, duckdb; print('duckdb' in {m.partition('.')[0] for m in sys.modules})"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "True\n"
