"""What proving costs: CPU time of all proofs of one family, and verified runs a CPU second."""

from __future__ import annotations

import resource
import time
from typing import Any

import pytest

from agentbound.sandbox.episode import Setting
from agentbound.sandbox.proofs import prove
from golden import NAMES, family

MOST_SECONDS = 0.060
"""CPU time that all proofs of one family may take."""
FEWEST_RUNS_A_SECOND = 5_000
MOST_GROWTH = 20_000
"""KiB the process may grow by while a hundred families are proved."""


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize("name", NAMES)
def test_prove_one_family(benchmark: Any, capsys: pytest.CaptureFixture[str], name: str) -> None:
    one = family(name)
    certificate, _ = benchmark.pedantic(prove, args=(one,), rounds=20, warmup_rounds=2)
    assert certificate is not None
    seconds = benchmark.stats.stats.min
    with capsys.disabled():
        print(
            f"\n{name}: {1e3 * seconds:.0f} ms of CPU, {certificate.runs} runs, {certificate.runs / seconds:,.0f} a CPU second"
        )
    if certificate.runs < 500:
        assert seconds < MOST_SECONDS
    assert certificate.runs / seconds > FEWEST_RUNS_A_SECOND or seconds < MOST_SECONDS


def test_a_hundred_families_cost_a_hundred_times_one_and_no_memory(capsys: pytest.CaptureFixture[str]) -> None:
    families = [family(name) for name in NAMES]

    def seconds_of(rounds: int) -> float:
        began = time.process_time()
        for _ in range(rounds):
            for one in families:
                prove(one)
        return time.process_time() - began

    seconds_of(1)
    few, before = seconds_of(3), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    many, after = seconds_of(33), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with capsys.disabled():
        print(f"\n9 families: {few:.2f} s of CPU; 99 families: {many:.2f} s and {(after - before) / 1024:.1f} MiB more")
    assert many < 11 * few * 1.1
    assert after - before < MOST_GROWTH


@pytest.mark.benchmark(timer=time.process_time)
def test_set_up_a_world(benchmark: Any) -> None:
    benchmark.pedantic(Setting.of, args=(family("partner_extract"),), rounds=50, warmup_rounds=2)
    assert benchmark.stats.stats.min < 0.005
