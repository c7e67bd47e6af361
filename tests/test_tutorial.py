"""The tutorial is followed word for word: its commands are run, and what it says they print is looked for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.prefect
@pytest.mark.xdist_group("prefect")
def test_the_tutorial_leads_from_nothing_to_a_release(repository: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall((repository / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    assert [kind for kind, _ in blocks].count("sh") > 8
    home = Path(sys.executable).parent
    environment = {**os.environ, "COLUMNS": "160", "PATH": f"{home}:{os.environ['PATH']}"}
    said = ""
    for kind, body in blocks:
        if kind == "sh":
            ran = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", body],
                capture_output=True,
                text=True,
                env=environment,
                cwd=tmp_path,
                check=False,
            )
            assert ran.returncode == 0, f"{body}\n{ran.stdout}\n{ran.stderr}"
            said = ran.stdout
        else:
            for line in body.splitlines():
                wanted = re.escape(line).replace("…", ".*")
                assert re.search(wanted, said), f"{line!r} is not in what it printed:\n{said}"
    assert len(list((tmp_path / "packets").glob("*.md"))) == 7  # six tasks, and what a reader does
