"""The taxonomy: what ships is whole, and a user's files are refused with line and mend, all faults at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentbound.errors import ContentError, UsageError
from agentbound.taxonomy import load_taxonomy

CATEGORY = """\
id: {id}
title: A title
description: What it is.
classes:
  - id: {leaf}
    title: A class
    forbidden: What is forbidden.
"""


def write(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def faults(directory: Path) -> list[tuple[str, int, str, str]]:
    with pytest.raises(ContentError) as caught:
        load_taxonomy(directory)
    return [(Path(f.file).name, f.line, f.what, f.mend) for f in caught.value.faults]


def test_the_shipped_taxonomy_is_whole() -> None:
    taxonomy = load_taxonomy()
    classes = {c.id: [r.id for r in c.classes] for c in taxonomy.categories}
    assert list(classes) == [
        *("copyright", "cybercrime", "disinformation", "drugs"),
        *("fraud", "harassment", "hate", "sexual"),
    ]
    assert len(classes["cybercrime"]) == 13
    assert all(len(leaves) >= 2 for leaves in classes.values())
    assert sum(map(len, classes.values())) >= 27
    assert len(taxonomy.domain_ids()) == 6
    for category in classes:
        for kind in ("misuse", "disguise", "authorization", "containment"):
            assert len(taxonomy.pattern_ids(kind, category)) >= 3, (kind, category)


def test_a_user_adds_a_category_and_replaces_one(tmp_path: Path) -> None:
    write(tmp_path, "categories/forgery.yaml", CATEGORY.format(id="forgery", leaf="false_seals"))
    write(tmp_path, "categories/drugs.yaml", CATEGORY.format(id="drugs", leaf="my_own_class"))
    write(tmp_path, "patterns/misuse.yaml", "- {id: false_seal, description: A seal., categories: [forgery]}\n")
    taxonomy = load_taxonomy(tmp_path)
    assert taxonomy.class_ids("forgery") == ["false_seals"]
    assert taxonomy.class_ids("drugs") == ["my_own_class"]
    assert "false_seal" in taxonomy.pattern_ids("misuse", "forgery")
    assert "false_seal" not in taxonomy.pattern_ids("misuse", "drugs")


def test_all_faults_of_all_files_come_at_once_with_line_and_mend(tmp_path: Path) -> None:
    text = CATEGORY.format(id="forgery", leaf="refund_abuse").replace("title: A title", "titel: A title")
    write(tmp_path, "categories/forgery.yaml", text)
    write(tmp_path, "categories/seals.yaml", CATEGORY.format(id="seal", leaf="refund_abuse"))
    write(
        tmp_path,
        "patterns/misuse.yaml",
        "- {id: a, description: A., categories: [nowhere]}\n- {id: a, description: B.}\n",
    )
    write(tmp_path, "patterns/tricks.yaml", "- {id: a, description: A.}\n")
    write(tmp_path, "domains.yaml", "- id: moon\n  title: The moon\n")
    found = faults(tmp_path)
    assert [(file, line) for file, line, _, _ in found] == [
        ("forgery.yaml", 1),
        ("forgery.yaml", 2),
        ("seals.yaml", 1),
        ("seals.yaml", 5),
        ("domains.yaml", 1),
        ("misuse.yaml", 1),
        ("misuse.yaml", 2),
        ("tricks.yaml", 1),
    ]
    told = {(file, what) for file, _, what, _ in found}
    assert ("forgery.yaml", "unknown key titel") in told
    assert ("forgery.yaml", "title is missing") in told
    assert ("seals.yaml", "the class refund_abuse is there already") in told
    assert ("misuse.yaml", "a is there twice") in told
    assert ("misuse.yaml", "there is no category nowhere") in told
    assert ("tricks.yaml", "there is no kind of pattern tricks") in told
    assert all(mend for _, _, _, mend in found)
    assert any(mend == "did you mean title?" for _, _, _, mend in found)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("id: a\nid: b\n", 2),
        ("id: a\n title: b\n", 2),
        ("id: [a\n", 2),
        ("id: 'a\n", 2),
        ("\tid: a\n", 1),
    ],
)
def test_what_is_no_yaml_is_told_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    write(tmp_path, "categories/forgery.yaml", text)
    ((file, found, what, _mend),) = faults(tmp_path)
    assert (file, found) == ("forgery.yaml", line)
    assert what.startswith("no YAML: ")


def test_bytes_that_are_no_text_are_a_fault(tmp_path: Path) -> None:
    path = write(tmp_path, "categories/forgery.yaml", "")
    path.write_bytes(b"id: \xff\xfe")
    ((file, line, what, _mend),) = faults(tmp_path)
    assert (file, line) == ("forgery.yaml", 1)
    assert what.startswith("it cannot be read: ")


def test_a_directory_that_is_none_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no directory"):
        load_taxonomy(tmp_path / "nowhere")
