"""Logs of checked lines: whatever happens to the bytes, what is read is a prefix of what was written, or an error."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbound.data.canonical import canonical, digest
from agentbound.data.store.disk import Disk
from agentbound.data.store.segments import Appender, Line, Place, encode, read_body, read_lines
from agentbound.errors import StoreCorrupt

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
BATCHES = st.lists(st.lists(VALUES, min_size=1, max_size=4), min_size=1, max_size=5)


@contextmanager
def log() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory) / "log"


def write(directory: Path, batches: list[list[Any]], segment_bytes: int = 300) -> list[Place]:
    lines = list(read_lines(directory))
    appender = Appender(directory, lines[-1].place if lines else None, Disk(), segment_bytes)
    try:
        return [place for batch in batches for place in appender.append([encode(value) for value in batch])]
    finally:
        appender.close()


def bodies(lines: list[Line]) -> list[bytes]:
    return [line.body for line in lines]


def last_segment(directory: Path) -> Path:
    return max(directory.glob("*.jsonl"))


@given(BATCHES)
def test_what_is_written_is_read(batches: list[list[Any]]) -> None:
    with log() as directory:
        places = write(directory, batches)
        lines = list(read_lines(directory))
        values = [value for batch in batches for value in batch]
        assert bodies(lines) == [encode(value) for value in values]
        assert [line.place for line in lines] == places
        assert [line.sha256 for line in lines] == [digest(value) for value in values]
        assert [read_body(directory, place) for place in places] == bodies(lines)
        assert canonical([line.value() for line in lines]) == canonical(values)


@given(BATCHES, st.data())
def test_a_log_cut_anywhere_in_its_last_segment_gives_a_prefix_and_goes_on(
    batches: list[list[Any]], data: st.DataObject
) -> None:
    with log() as directory:
        write(directory, batches)
        before = bodies(list(read_lines(directory)))
        path = last_segment(directory)
        whole = path.read_bytes()
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole)), label="kept bytes")])
        kept = bodies(list(read_lines(directory)))
        assert kept == before[: len(kept)]
        write(directory, [[{"after": 1}]])
        assert bodies(list(read_lines(directory))) == [*kept, b'{"after":1}']


@given(BATCHES, st.data())
def test_a_changed_byte_before_the_last_line_is_damage(batches: list[list[Any]], data: st.DataObject) -> None:
    with log() as directory:
        places = write(directory, [*batches, ["last"]])
        lines = list(read_lines(directory))
        spoilt = data.draw(st.sampled_from(places[:-1]), label="line")
        path = directory / spoilt.segment
        content = bytearray(path.read_bytes())
        at = spoilt.start + data.draw(st.integers(0, spoilt.length - 1), label="byte")
        content[at] ^= data.draw(st.integers(1, 255), label="change")
        path.write_bytes(content)
        number = next(line.number for line in lines if line.place == spoilt)
        with pytest.raises(StoreCorrupt, match=rf"{path.name} is damaged in line {number}: .*put the file back"):
            list(read_lines(directory))


def test_a_changed_byte_in_a_whole_last_line_is_damage() -> None:
    """A killed writer leaves a line without its end, never another line."""
    with log() as directory:
        write(directory, [["one", "two"]])
        path = last_segment(directory)
        path.write_bytes(path.read_bytes().replace(b"two", b"too"))
        with pytest.raises(StoreCorrupt, match="line 2"):
            list(read_lines(directory))


def test_a_torn_segment_that_another_follows_is_damage() -> None:
    with log() as directory:
        write(directory, [["one"], ["two"]], segment_bytes=1)
        first = min(directory.glob("*.jsonl"))
        first.write_bytes(first.read_bytes()[:-3])
        with pytest.raises(StoreCorrupt, match=r"000001\.jsonl is damaged in line 1"):
            list(read_lines(directory))


def test_a_missing_segment_is_damage() -> None:
    with log() as directory:
        write(directory, [["one"], ["two"], ["three"]], segment_bytes=1)
        (directory / "000002.jsonl").unlink()
        with pytest.raises(StoreCorrupt, match=r"holds 000003\.jsonl where 000002\.jsonl should be"):
            list(read_lines(directory))


def test_a_batch_stays_in_one_segment() -> None:
    with log() as directory:
        places = write(directory, [["a" * 50] * 20, ["b"]], segment_bytes=100)
        assert {place.segment for place in places[:-1]} == {"000001.jsonl"}
        assert places[-1].segment == "000002.jsonl"


def test_a_line_is_json_that_anybody_can_check() -> None:
    with log() as directory:
        write(directory, [[{"b": 25.0, "a": "é"}]])
        line = json.loads(last_segment(directory).read_text(encoding="utf-8"))
        assert line["body"] == {"a": "é", "b": 25}
        assert line["sha256"] == hashlib.sha256('{"a":"é","b":25}'.encode()).hexdigest()


def test_a_body_that_is_gone_or_changed_is_damage() -> None:
    with log() as directory:
        (place,) = write(directory, [["one"]])
        path = last_segment(directory)
        path.write_bytes(path.read_bytes().replace(b"one", b"two"))
        with pytest.raises(StoreCorrupt, match="damaged at byte 0"):
            read_body(directory, place)
        path.unlink()
        with pytest.raises(StoreCorrupt, match="damaged at byte 0"):
            read_body(directory, place)
