"""What an installer gets: the whole package, from the repository and from its sdist alike, and nothing beside it.

Nothing is downloaded: packages are built without isolation, and the installed copy borrows the dependencies of the
environment the tests run in.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

LEFT_BEHIND = (".*", "__pycache__", "build", "dist", "runs", "*.egg-info")

PLANTED = ("taxonomy/planted.yaml", "data/blueprints/fraud/refunds/planted.yaml", "data/planted.json")
"""Put into the copy that is built, so that content is looked for at every depth, whatever the repository holds."""

PROBE = """
import importlib.resources, json, agentbound
from agentbound.data import records
root = importlib.resources.files("agentbound")
found = [str(p.relative_to(root)) for p in root.rglob("*.yaml")]
print(json.dumps({"at": agentbound.__file__, "version": agentbound.__version__, "yaml": sorted(found)}))
"""


def run(*command: str | Path, cwd: Path) -> str:
    """The output of a command; a failure shows both of its streams."""
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command} failed\n{done.stdout}\n{done.stderr}"
    return done.stdout


def package_files(repository: Path) -> set[str]:
    """Every file below src/agentbound, through its links, as a path in site-packages."""
    package = repository / "src" / "agentbound"
    folders = [package, *(p for p in package.iterdir() if p.is_symlink())]
    files = set()
    for folder in folders:
        real = folder.resolve()
        for path in real.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                files.add(str(Path("agentbound") / folder.relative_to(package) / path.relative_to(real)))
    return files


def wheel_files(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}


@dataclass(frozen=True)
class Built:
    """The wheel an index would serve (by way of the sdist), and the one `pip install .` makes of the repository."""

    source: Path
    from_sdist: Path
    from_tree: Path


@pytest.fixture(scope="module")
def built(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Both wheels, built in a copy so that the repository stays as it is."""
    work = tmp_path_factory.mktemp("build")
    source = work / "source"
    shutil.copytree(repository, source, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    for name in PLANTED:
        planted = source / "src" / "agentbound" / name
        planted.parent.mkdir(parents=True, exist_ok=True)
        planted.write_text("{}\n", encoding="utf-8")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", work / "dist", cwd=source)
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", work / "tree", cwd=source)
    (from_sdist,) = (work / "dist").glob("*.whl")
    (from_tree,) = (work / "tree").glob("*.whl")
    return Built(source, from_sdist, from_tree)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A fresh environment with the wheel: its bin directory, and what the wheel added to site-packages."""
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home, with_pip=True, symlinks=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(home), "platbase": str(home)}))
    before = {p.name for p in site.iterdir()}
    run(home / "bin" / "python", "-m", "pip", "install", "--no-deps", "--no-index", built.from_sdist, cwd=home)
    added = {p.name for p in site.iterdir()} - before
    # A plain path in a .pth file brings the dependencies; the .pth files lying there, that of an editable install of
    # this project among them, are not followed.
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin", added


def test_the_sdist_loses_nothing(built: Built) -> None:
    assert wheel_files(built.from_sdist) == wheel_files(built.from_tree)


def test_the_wheel_holds_every_file_of_the_package(built: Built) -> None:
    in_package = {name for name in wheel_files(built.from_sdist) if name.startswith("agentbound/")}
    assert in_package == package_files(built.source)


def test_site_packages_gets_one_name(installed: tuple[Path, set[str]]) -> None:
    _, added = installed
    assert {re.sub(r"-.*\.", ".", name) for name in added} == {"agentbound", "agentbound.dist-info"}


def test_the_installed_package_works_from_elsewhere(
    built: Built, installed: tuple[Path, set[str]], tmp_path: Path
) -> None:
    bin_, _ = installed
    seen = json.loads(run(bin_ / "python", "-c", PROBE, cwd=tmp_path))
    assert Path(seen["at"]).is_relative_to(bin_.parent)
    assert seen["version"] == project(built.source)["version"]
    content = {name.removeprefix("agentbound/") for name in package_files(built.source) if name.endswith(".yaml")}
    assert {name for name in PLANTED if name.endswith(".yaml")} <= content
    assert set(seen["yaml"]) == content


def test_the_installed_command_answers(installed: tuple[Path, set[str]], tmp_path: Path) -> None:
    bin_, _ = installed
    assert "Usage" in run(bin_ / "agentbound", "--help", cwd=tmp_path)


def project(repository: Path) -> dict[str, object]:
    read: dict[str, object] = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return read


def locked(repository: Path) -> dict[str, str]:
    """The lock's entries, name to the rest of the entry."""
    text = (repository / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {re.split(r"[=\s;]", line)[0]: line for line in lines}


def test_the_lock_pins_hashes_and_names_no_host(repository: Path) -> None:
    entries = locked(repository)
    assert all(re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line) for line in entries.values())
    assert "://" not in (repository / "requirements.lock").read_text(encoding="utf-8")


def test_the_lock_covers_what_the_project_asks_for(repository: Path) -> None:
    file = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [
        *file["build-system"]["requires"],
        *file["project"]["dependencies"],
        *file["dependency-groups"]["dev"],
    ]
    names = {re.split(r"[\[<>=!~; ]", line)[0].lower().replace("_", "-") for line in asked}
    assert names <= set(locked(repository))
