"""`agentbound taxonomy check` and `sample`: what a writer of blueprints is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentbound.errors import ContentError, UsageError
from agentbound.flows.commands.build import build_command
from agentbound.flows.commands.taxonomy import check_command, list_command, sample_command
from agentbound.flows.views import console

SHIPPED = Path(__file__).parents[2] / "data/blueprints/fraud/refund_abuse/refund_desk.yaml"

Edit = Callable[..., Path]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COLUMNS", "400")
    console.out.cache_clear()
    yield
    console.out.cache_clear()


@pytest.fixture
def edited(tmp_path: Path) -> Edit:
    """A directory of content with the shipped model in it, some of its texts replaced."""

    def edit(*changes: tuple[str, str], name: str = "mine") -> Path:
        text = SHIPPED.read_text(encoding="utf-8")
        for old, new in (("blueprint: refund_desk", f"blueprint: {name}"), *changes):
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / "content" / "blueprints" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return edit


def line_of(path: Path, text: str) -> int:
    return next(n for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if text in line)


def test_a_blueprint_that_holds_is_clean(edited: Edit, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_command([edited()], 2, []) == 0
    said = capsys.readouterr().out
    assert "✓ mine: 2 of 2 samples proved" in said
    assert said.endswith("1 of 1 blueprint clean\n")


BROKEN_SQL = [
    ("read: SELECT id, charge_id, cents, made, outcome FROM payouts", "read: SELEC id FROM payouts", "no statement that"),
    ("SELECT NOT EXISTS(SELECT 1 FROM payouts", "SELECT NOT EXISTS(SELECT 1 FROM payuots", "payuots"),
    ("sql: SELECT EXISTS(SELECT 1 FROM payouts WHERE outcome=", "sql: SELECT EXISTS(SELECT 1 FROM payouts WHERE outcame=", "outcame"),
    ("write: INSERT INTO notices(id", "write: DELETE FROM sqlite_master; INSERT INTO notices(id", "one statement"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "what"), BROKEN_SQL)
def test_a_statement_that_does_not_run_is_told_with_file_line_and_mend(
    edited: Edit, capsys: pytest.CaptureFixture[str], old: str, new: str, what: str
) -> None:
    path = edited((old, new))
    assert check_command([path], 1, []) == 1
    told = next(line for line in capsys.readouterr().out.splitlines() if f"mine.yaml:{line_of(path, new)}:" in line)
    assert what in told
    assert "write one statement that SQLite and the sandbox run" in told


def test_a_build_refuses_such_a_statement_before_it_makes_anything(edited: Edit, tmp_path: Path) -> None:
    old, new, _ = BROKEN_SQL[0]
    path = edited((old, new))
    with pytest.raises(ContentError) as refused:
        build_command(
            run=tmp_path / "run",
            preset="quick",
            families=None,
            categories=(),
            risk_classes=("refund_abuse",),
            secret=None,
            version="0.1.0",
            taxonomy_dirs=[path.parents[1]],
            workers=1,
        )
    assert [(Path(f.file).name, f.line) for f in refused.value.faults] == [("mine.yaml", line_of(path, new))]
    assert not (tmp_path / "run").exists()


def test_a_statement_whose_table_some_draws_leave_out_is_looked_at_in_the_others(
    edited: Edit, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = "id TEXT PRIMARY KEY, customer_id TEXT NOT NULL, payout_id TEXT NOT NULL, body TEXT NOT NULL"
    row = "    - {id: N-1, customer_id: <k_other>, payout_id: <other_refund>, body: Your second charge has been paid back.}"
    statement = "then: SELECT EXISTS(SELECT 1 FROM notices n JOIN payouts p ON p.id=n.payout_id WHERE n.customer="
    path = edited(
        (f"  notices: {columns}", f'  notices: {{if: tell, then: "{columns}"}}'),
        (f"  notices:\n{row}", f"  notices:\n    if: tell\n    then:\n  {row}"),
        ("  send_notice:\n", "  send_notice:\n    if: tell\n"),
        ("  - tool: send_notice\n", "  - if: tell\n    tool: send_notice\n"),
        (statement.replace("n.customer=", "n.customer_id="), statement),
    )
    told = f"mine.yaml:{line_of(path, statement)}:"
    assert check_command([path], 1, []) == 0, "the first sample of this name does without the table"
    assert check_command([path], 8, []) == 1
    assert told in capsys.readouterr().out


def test_each_file_counts_and_all_faults_are_told(edited: Edit, capsys: pytest.CaptureFixture[str]) -> None:
    edited(name="whole")
    edited(("caller:", "callar:"), ("mandate:", "mandat:"), name="one")
    directory = edited(("budget:", "bugdet:"), name="two").parent
    assert check_command([directory], 1, []) == 1
    said = capsys.readouterr().out
    assert all(key in said for key in ("callar", "mandat", "bugdet", "✓ whole"))
    assert said.endswith("1 of 3 blueprints clean\n")


def test_a_pool_without_a_wording_that_fits_is_a_fault(edited: Edit, capsys: pytest.CaptureFixture[str]) -> None:
    path = edited()
    text = path.read_text(encoding="utf-8")
    start = text.index("  HB:\n")
    path.write_text(
        text[:start] + "  HB:\n    - {if: \"forbidden == 'another_month'\", text: 'Fire it off, <twin>.'}\n"
    )
    assert check_command([path], 1, []) == 1
    assert "no wording for HB fits flip already_settled" in capsys.readouterr().out


def test_a_sample_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    sample_command(SHIPPED, 4, "review_opened")
    first = capsys.readouterr().out
    assert "● review_opened" in first
    assert all(name in first for name in ("easy benign", "covert malicious", "hard benign", "harmful source"))
    sample_command(SHIPPED, 4, "review_opened")
    assert capsys.readouterr().out == first
    with pytest.raises(UsageError, match="nowhere"):
        sample_command(SHIPPED, 4, "nowhere")


def test_the_list_counts_blueprints_by_class(capsys: pytest.CaptureFixture[str]) -> None:
    list_command([])
    said = capsys.readouterr().out
    for directory in (p for p in SHIPPED.parents[2].glob("*/*") if p.is_dir()):
        (line,) = [line for line in said.splitlines() if directory.name in line.split()]
        assert str(len(list(directory.glob("*.yaml")))) in line.split()
