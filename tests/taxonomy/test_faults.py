"""Each directory under golden/ is a user's taxonomy with faults; its faults.txt is what has to be said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentbound.errors import ContentError
from agentbound.taxonomy import load_taxonomy

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path.name for path in GOLDEN.iterdir())

JARGON = ("input should", "instance of", "tuple", "dict", "string", "pydantic", "NoneType", "pattern '", "union")


def faults(directory: Path) -> list[str]:
    with pytest.raises(ContentError) as caught:
        load_taxonomy(directory)
    return [
        f"{Path(f.file).relative_to(directory).as_posix()}:{f.line}: {f.what}; {f.mend}" for f in caught.value.faults
    ]


@pytest.mark.parametrize("case", CASES)
def test_every_fault_is_told_with_file_line_and_mend(case: str) -> None:
    expected = (GOLDEN / case / "faults.txt").read_text(encoding="utf-8").splitlines()
    assert faults(GOLDEN / case) == expected


@pytest.mark.parametrize("case", CASES)
def test_no_fault_speaks_of_python(case: str) -> None:
    for fault in faults(GOLDEN / case):
        assert not [word for word in JARGON if word in fault], fault
