"""The command line as a user meets it: what it prints, what it exits with, and that errors are sentences."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentbound import __version__
from agentbound.data.store import status
from golden import record

RISK_CLASS = "refund_abuse"


def agentbound(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a terminal of 100 columns."""
    command = [sys.executable, "-m", "agentbound.flows.cli", *map(str, words)]
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd, check=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run, built by the command itself with Prefect's server."""
    out = tmp_path_factory.mktemp("runs") / "small"
    said = agentbound("build", "--risk-class", RISK_CLASS, "--families", "4", "--out", out)
    assert said.returncode == 0, said.stderr
    assert "from request to release" in said.stdout
    assert "release/public" in said.stdout.replace("\n", "")
    assert "generate and validate" in said.stderr
    assert "Traceback" not in said.stderr
    return out


pytestmark = [pytest.mark.prefect, pytest.mark.xdist_group("prefect")]


def test_status_runs_and_show(run: Path) -> None:
    said = agentbound("status", run)
    assert said.returncode == 0
    assert "fraud" in said.stdout
    assert "release 0.1.0" in said.stdout
    assert "/small" in "".join(line[:35].strip() for line in agentbound("runs", run.parent).stdout.splitlines())
    listed = agentbound("show", run).stdout
    assert listed.count("accepted") == 4
    family = "fraud.refund_abuse.0000"
    shown = agentbound("show", run, family).stdout
    for words in ("EB  easy benign", "CM  covert malicious", "HB  hard benign", "HS  harmful source"):
        assert words in shown
    for words in (
        "what takes permission away",
        "what decides",
        "the rules",
        "one path, two worlds",
        "receipts",
        "against",
    ):
        assert words in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_export_and_prove(run: Path, tmp_path: Path) -> None:
    exported = agentbound("export", run, "fraud.refund_abuse.0001")
    file = tmp_path / "family.json"
    file.write_text(exported.stdout, encoding="utf-8")
    for path in (file, run, run / "release", run / "release" / "evaluation"):
        said = agentbound("prove", path)
        assert said.returncode == 0, said.stdout + said.stderr
        assert "proved" in said.stdout


def test_prove_names_family_code_and_place(tmp_path: Path) -> None:
    data = record("refund_desk")
    sql = data["world"]["transitions"]["list_refunds"]["sql"]
    sql[0] = sql[0].replace("WHERE", "WHERE id<>'R-8' AND")
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    said = agentbound("prove", file)
    assert said.returncode == 1
    assert "example-refund-desk: honest fails at list_refunds(" in said.stdout
    assert "1 of 1 families are not proved" in said.stdout


def test_the_same_secret_gives_the_same_bytes_and_a_finished_run_is_left_alone(run: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    options = ("build", "--risk-class", RISK_CLASS, "--families", "4", "--out", again, "--secret", run / "secret")
    assert agentbound(*options).returncode == 0
    assert files(again / "release") == files(run / "release")
    said = agentbound(*options)
    assert said.returncode == 0
    assert "Prefect" not in said.stderr


def files(directory: Path) -> dict[str, bytes]:
    return {p.relative_to(directory).as_posix(): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()}


def test_the_public_part_does_not_lead_back_to_the_families(run: Path, tmp_path: Path) -> None:
    """Everything public, and the shipped generator, give other families: only the secret gives these."""
    public = b"".join(files(run / "release" / "public").values())
    secret = (run / "secret").read_text().strip()
    assert secret.encode() not in public
    manifest = json.loads((run / "release" / "public" / "manifest.json").read_text())
    guesses = [manifest["canary"].replace("-", ""), manifest["commitment"], manifest["content_hash"]]
    hashes = set()
    for number, guess in enumerate(guesses):
        file = tmp_path / f"guess-{number}"
        file.write_text((guess * 2)[:64] + "\n")
        out = tmp_path / f"run-{number}"
        said = agentbound("build", "--risk-class", RISK_CLASS, "--families", "4", "--out", out, "--secret", file)
        assert said.returncode == 0, said.stderr
        hashes.add(json.loads((out / "release" / "public" / "manifest.json").read_text())["content_hash"])
    assert len(hashes) == len(guesses)
    assert manifest["content_hash"] not in hashes


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("build", "--preset", "huge", "--out", "x"), "there is no preset huge; choose quick, core, paper"),
        (("build", "--category", "fruad", "--out", "x"), "there is no category fruad; choose from"),
        (("build", "--risk-class", "theft", "--out", "x"), "there is no risk class theft; choose from"),
        (("build", "--release-version", "one", "--out", "x"), "one is no version; write three numbers"),
        (("build", "--secret", "nowhere", "--out", "x"), "nowhere"),
        (("build", "--taxonomy", "nowhere", "--out", "x"), "nowhere is no directory"),
        (("prove", "nowhere"), "nowhere is no family file, no run and no release"),
        (("show", "nowhere"), "nowhere is no run"),
        (("export", "nowhere", "x"), "nowhere is no run"),
        (("status", "nowhere"), "nowhere is no run"),
        (("runs", "nowhere"), "nowhere is no directory"),
        (("taxonomy", "check", "nowhere"), "nowhere: no blueprint file there"),
        (("taxonomy", "sample", "nowhere"), "nowhere"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_two(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    said = agentbound(*words, cwd=tmp_path)
    assert said.returncode == 2
    assert sentence in said.stderr
    assert "Traceback" not in said.stderr
    assert said.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_other_options_for_the_same_run_are_refused_by_name(run: Path) -> None:
    said = agentbound("build", "--risk-class", RISK_CLASS, "--families", "5", "--out", run)
    assert said.returncode == 2
    assert "families (4 then, 5 now)" in said.stderr


def test_an_output_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x")
    said = agentbound("build", "--risk-class", RISK_CLASS, "--families", "1", "--out", blocked / "run")
    assert said.returncode == 2
    assert said.stderr.startswith("agentbound: ")
    assert "Traceback" not in said.stderr


def test_a_broken_blueprint_is_refused_with_file_line_and_mend(tmp_path: Path) -> None:
    mine = tmp_path / "mine" / "blueprints"
    mine.mkdir(parents=True)
    shipped = Path(__file__).parents[2] / "data/blueprints/fraud/refund_abuse/refund_desk.yaml"
    text = shipped.read_text(encoding="utf-8").replace("blueprint: refund_desk", "blueprint: mine", 1)
    text = text.replace("\ncaller:", "\ncallar:", 1)
    (mine / "mine.yaml").write_text(text, encoding="utf-8")
    said = agentbound("build", "--taxonomy", tmp_path / "mine", "--out", tmp_path / "run")
    assert said.returncode == 2
    assert "mine.yaml:" in said.stderr
    assert "callar" in said.stderr
    assert "caller" in said.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("words", [("--version",), ("version",)])
def test_the_version(words: tuple[str, ...]) -> None:
    said = agentbound(*words)
    assert (said.returncode, said.stdout.strip()) == (0, __version__)


def test_help_says_each_command_in_a_whole_line() -> None:
    assert agentbound("-h").stdout == agentbound("--help").stdout
    assert "exit 1 where one does not hold." in agentbound("--help").stdout


def test_json_too_deep_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text("[" * 100_000)
    said = agentbound("prove", file)
    assert said.returncode == 2
    assert "deep.json is no JSON" in said.stderr


def test_a_release_is_proved_with_its_public_part(run: Path, tmp_path: Path) -> None:
    release = tmp_path / "release"
    shutil.copytree(run / "release", release)
    with (release / "public" / "README.md").open("a") as card:
        card.write("x")
    said = agentbound("prove", release)
    assert said.returncode == 2
    assert "README.md is not the file the manifest names" in said.stderr.replace("\n", " ")


@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGKILL])
def test_a_build_that_is_stopped_leaves_at_once_and_leaves_no_process(ends: signal.Signals, tmp_path: Path) -> None:
    """Every process of a build holds its standard error, so that its end is the end of the last one of them."""
    words = ("build", "--risk-class", RISK_CLASS, "--families", "40", "--workers", "2", "--out", str(tmp_path / "run"))
    command = [sys.executable, "-m", "agentbound.flows.cli", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as build:
        assert build.stderr is not None
        assert any("shard 1 of" in line for line in build.stderr)
        if ends is signal.SIGINT:
            os.killpg(build.pid, ends)  # as a terminal does
        else:
            build.kill()
        said = build.communicate(timeout=30)[1]
    assert "Traceback" not in said
    assert build.returncode == (130 if ends is signal.SIGINT else -ends)
    assert ("agentbound: stopped; the same command goes on" in said) == (ends is signal.SIGINT)
    assert 1 <= status(tmp_path / "run").total.accepted < 40


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    said = agentbound("show", "nowhere", "--debug", cwd=tmp_path)
    assert "Traceback" in said.stderr
