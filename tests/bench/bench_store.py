"""How fast families of 30 KB are recorded, and how soon a run of the paper's size is open again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentbound.data.store import Accepted, Plan, RunView, Slot, open_run, status

FAMILIES = 2787
BATCH = 50
PLAN = Plan(
    options={"preset": "paper"},
    slots=tuple(
        Slot(id=f"s{i:05d}", category=f"category{i % 8}", risk_class=f"class{i % 27}") for i in range(FAMILIES)
    ),
)


def family(slot: str) -> dict[str, Any]:
    """About 30 KB in some thousand values, as a record has."""
    rows = [{"id": f"row-{i}", "note": "a line of plain text, as long as most " * 2, "amount": i} for i in range(250)]
    return {"family_id": slot, "rows": rows}


def record(run: Path, slots: tuple[Slot, ...]) -> None:
    with open_run(run, PLAN) as store:
        for start in range(0, len(slots), BATCH):
            store.append_many(
                [
                    Accepted(slot=s.id, stage="validate", family_id=s.id, family=store.put(family(s.id)), attempts=1)
                    for s in slots[start : start + BATCH]
                ]
            )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    record(path, PLAN.slots)
    return path


def test_record_500_families(benchmark: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    benchmark.pedantic(
        record, setup=lambda: ((tmp_path_factory.mktemp("runs") / "run", PLAN.slots[:500]), {}), rounds=5
    )
    benchmark.extra_info["families a second"] = round(500 / benchmark.stats.stats.min)
    assert benchmark.stats.stats.min < 2.5


def test_open_again(benchmark: Any, run: Path) -> None:
    benchmark.pedantic(lambda: open_run(run, PLAN).close(), rounds=5)
    assert benchmark.stats.stats.min < 2


def test_status_with_a_new_index(benchmark: Any, run: Path) -> None:
    benchmark.pedantic(lambda: status(run), setup=lambda: (run / "index.duckdb").unlink(missing_ok=True), rounds=5)
    assert benchmark.stats.stats.min < 3


def test_status_with_an_index_that_fits(benchmark: Any, run: Path) -> None:
    RunView(run).close()
    found = benchmark.pedantic(lambda: status(run), rounds=5)
    assert found.total.accepted == FAMILIES
    assert benchmark.stats.stats.min < 1
