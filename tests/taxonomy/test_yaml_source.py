"""Reading YAML with its lines: whatever a file holds, it is read, or refused with places that are in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel, model_validator

from agentbound.errors import ContentError
from agentbound.taxonomy.yaml_source import Source, check_model, read_yaml

TEXT = """\
name: desk
tools:
  - name: a
  - name: b
    about: >-
      a long
      text
  - {name: c, params: {x: 1}}
"""


def source(text: str, directory: Path) -> Source:
    path = directory / "file.yaml"
    path.write_text(text, encoding="utf-8", newline="")
    return read_yaml(path)


@pytest.mark.parametrize(
    ("loc", "line"),
    [
        ((), 1),
        (("name",), 1),
        (("tools",), 2),
        (("tools", 0), 3),
        (("tools", 1, "about"), 5),
        (("tools", 2, "params", "x"), 8),
        (("tools", 1, "absent", "below"), 4),
        (("tools", 9), 2),
        (("absent",), 1),
    ],
)
def test_a_place_has_its_line_or_that_of_what_is_around_it(tmp_path: Path, loc: tuple[Any, ...], line: int) -> None:
    assert source(TEXT, tmp_path).line(loc) == line


def test_a_file_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match=r"nowhere\.yaml:1: it cannot be read: no such file"):
        read_yaml(tmp_path / "nowhere.yaml")


def test_the_same_value_may_be_named_twice(tmp_path: Path) -> None:
    assert source("a: &x [1]\nb: *x\nc: {<<: {d: 1}, e: *x}\n", tmp_path).data == {
        "a": [1],
        "b": [1],
        "c": {"d": 1, "e": [1]},
    }


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    table: str
    key: str | int | None = None


class Repeat(BaseModel):
    model_config = ConfigDict(extra="forbid")
    repeat: int | list[int]
    row: dict[str, str | int]


def _dotted(text: str) -> str:
    if "." not in text:
        raise ValueError("write `table.column`")
    return text


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["read", "write"] = "read"
    rows: list[Repeat | dict[str, str | int]] = []
    observes: list[Annotated[str, AfterValidator(_dotted)] | Inner] = []
    flag: bool = False
    share: float = 0.5
    pair: tuple[int, int] = (0, 1)
    read: dict[str, Inner] = {}
    with_: int = Field(0, alias="with")

    @model_validator(mode="after")
    def _agrees(self) -> Outer:
        if self.flag and self.kind == "write":
            raise ValueError("a write has no flag")
        return self


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: reed", "kind is 'reed', and has to be 'read' or 'write'; write 'read' or 'write'"),
        ("flag: maybe", "flag is 'maybe', and has to be true or false; write true or false"),
        ("share: much", "share is 'much', and has to be a number; write a number"),
        ("share: .nan\nfalg: true", "unknown key falg; did you mean flag?"),
        ("whith: 1", "unknown key whith; did you mean with?"),
        ("zzz: 1", "unknown key zzz; keys are kind, rows, observes, flag, share, pair, read, with"),
        ("with: 1.5", "with is 1.5, and has to be a whole number; write digits alone"),
        ("with:", "with is empty, and has to be a whole number; write a whole number"),
        ("pair: [1, 2, 3]", "pair has 3 items; leave 2"),
        ("pair: [1]", "pair.1 is missing; write 1: …"),
        ("rows: [3]", "rows.0 is 3, and has to be a mapping; write `key: value` lines below it"),
        ("rows: [{id: [1]}]", "rows.0.id is [1], and has to be a text or a whole number; write a text or a whole number"),
        ("rows: [{repeat: 2, rwo: {a: 1}}]", "rows.0.row is missing; write row: …"),
        ("rows: [{repeat: 2, rwo: {a: 1}}]", "unknown key rows.0.rwo; did you mean row?"),
        ("rows: [{1: 2}]", "the key of rows.0.1 is 1, and has to be a text; put it in quotes, or write one text"),
        ("2: 2", "the key 2 is no text; put the key in quotes"),
        ("on: 2", "a key is read as true or false; put it in quotes: on, off, yes and no are no texts"),
        ("observes: [a]", "observes.0 is 'a', and has to be `table.column`; write `table.column`"),
        ("observes: [3]", "observes.0 is 3, and has to be a text or a mapping; write a text or a mapping"),
        ("observes: [{tabel: a}]", "unknown key observes.0.tabel; did you mean table?"),
        ("read: {read: {table: a, kee: b}}", "unknown key read.read.kee; did you mean key?"),
        ("{kind: write, flag: true}", "the file: a write has no flag; drop what is too much, or add what is missing"),
        ("[1]", "the file is [1], and has to be a mapping; write its keys: kind, rows, observes, flag, share, pair, read, with"),
    ],
)  # fmt: skip
def test_a_fault_of_the_model_is_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    model, faults = check_model(source(text + "\n", tmp_path), Outer)
    assert model is None
    assert said in [f"{f.what}; {f.mend}" for f in faults]


@pytest.mark.parametrize(
    ("text", "count"),
    [("rows: [{repeat: [x], row: [3]}]", 2), ("rows: [{a: [1], b: [2]}]", 2), ("observes: [{table: 3, key: []}]", 2)],
)
def test_an_alternative_that_was_not_meant_adds_no_faults(tmp_path: Path, text: str, count: int) -> None:
    assert len(check_model(source(text, tmp_path), Outer)[1]) == count


class Items(RootModel[tuple[Inner, ...]]):
    pass


def test_an_unknown_key_in_a_file_that_is_a_list_is_compared_with_the_keys_of_its_items(tmp_path: Path) -> None:
    _, (fault,) = check_model(source("- table: a\n- table: b\n  kye: 1\n", tmp_path), Items)
    assert (fault.line, fault.what, fault.mend) == (3, "unknown key 1.kye", "did you mean key?")


def test_a_key_that_is_no_text_has_its_line(tmp_path: Path) -> None:
    _, faults = check_model(source("kind: read\n3: a\non: b\n", tmp_path), Outer)
    assert [f.line for f in faults] == [2, 3]


def test_data_that_fits_has_no_fault(tmp_path: Path) -> None:
    model, faults = check_model(
        source("rows:\n  - {repeat: 2, row: {a: 1}}\n  - {repeat: 2}\nwith: 3\n", tmp_path), Outer
    )
    assert faults == []
    assert model is not None
    assert isinstance(model.rows[0], Repeat)
    assert model.rows[1] == {"repeat": 2}


SNIPPETS = st.sampled_from(
    ["a: 1\n", "a", ": ", "- ", "[", "]", "{", "}", "&x ", "*x", "<<: ", "!!int ", "!t ", "'", '"', "\n", "  ", "\t", "? ",
     "2024-13-45", "0o9", "1:60", "3.", ".inf", "|\n", ">-\n", "---\n", "%", "@", "#", "\x07", "é", "\u2028", "=", "~", "yes"]
)  # fmt: skip
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "rows", "observes", "flag", "pair", "read", "repeat", "row", "table", "key", "x"])
            | st.integers(),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
IN_ONE_DIRECTORY = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300
)


@IN_ONE_DIRECTORY
@given(st.lists(SNIPPETS, max_size=12).map("".join))
def test_any_text_is_read_or_refused_with_lines_that_are_in_it(tmp_path: Path, text: str) -> None:
    try:
        found = check_model(source(text, tmp_path), Outer)[1]
    except ContentError as error:
        found = error.faults
        assert found
    for fault in found:
        assert 1 <= fault.line <= len(text.splitlines()) + 1
        assert fault.what
        assert fault.mend


@IN_ONE_DIRECTORY
@given(DATA)
def test_any_data_is_a_model_or_has_faults(tmp_path: Path, data: Any) -> None:
    model, faults = check_model(source(yaml.safe_dump(data, allow_unicode=True), tmp_path), Outer)
    assert (model is None) == bool(faults)
