"""Append-only logs of checked lines: a directory of numbered JSONL files, the segments.

A line is `{"sha256":"<64 hex digits>","body":<canonical JSON>}`, the hash being that of the body's bytes, so a line is
checked without being parsed, and the hash of a body is its address. Segments are read in the order of their numbers.

Only the very end of the last segment can be torn by a killed writer: bytes without a newline at the end. Whatever else
does not check is damage, and nothing is read from a damaged log.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agentbound.data.canonical import canonical
from agentbound.data.store.disk import Disk, create_directory, sync_directory, write_all, writing
from agentbound.errors import StoreCorrupt

_HEAD: Final = b'{"sha256":"'
_MIDDLE: Final = b'","body":'
_TAIL: Final = b"}\n"
_HASH: Final = slice(len(_HEAD), len(_HEAD) + 64)
_BODY_AT: Final = len(_HEAD) + 64 + len(_MIDDLE)

SEGMENT_BYTES: Final = 64 * 2**20
"""A segment that has reached this size is followed by another one; a batch is never split over two."""


@dataclass(frozen=True)
class Place:
    """Where a line stands: the segment's file name, its first byte, its length in bytes with the newline."""

    segment: str
    start: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length


@dataclass(frozen=True)
class Line:
    """A line that has passed its check; `number` counts from 1 in its segment."""

    place: Place
    number: int
    sha256: str
    body: bytes

    def value(self) -> Any:
        return json.loads(self.body)


def encode(value: Any) -> bytes:
    """The bytes a body is stored as: canonical JSON, lone surrogates passed through as `digest` does."""
    return canonical(value).encode("utf-8", "surrogatepass")


def frame(body: bytes) -> bytes:
    """The line for a body."""
    return b"".join((_HEAD, hashlib.sha256(body).hexdigest().encode(), _MIDDLE, body, _TAIL))


def unframe(line: bytes) -> tuple[str, bytes] | None:
    """The hash and the body of a line that checks; None for any other bytes."""
    body = line[_BODY_AT : -len(_TAIL)]
    sha256 = hashlib.sha256(body).hexdigest()
    whole = line.startswith(_HEAD) and line[_HASH.stop : _BODY_AT] == _MIDDLE and line.endswith(_TAIL)
    return (sha256, body) if whole and line[_HASH] == sha256.encode() else None


def segment_files(directory: Path) -> list[Path]:
    """The segments in order; empty where the log has not been started. A missing number is damage."""
    files = sorted(directory.glob("*.jsonl"))
    for number, path in enumerate(files, start=1):
        if path.name != _name(number):
            raise StoreCorrupt(
                f"{directory} holds {path.name} where {_name(number)} should be; put the missing segment back, "
                "or start the run again in another directory"
            )
    return files


def read_lines(directory: Path) -> Iterator[Line]:
    """Every whole line of the log, checked, oldest first. A torn end is left out (`Place.end` tells how far it went).

    Raises `StoreCorrupt` with file and line for damage.
    """
    files = segment_files(directory)
    for path in files:
        start = 0
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if path is files[-1] and not raw.endswith(b"\n"):
                    return
                checked = unframe(raw)
                if checked is None:
                    raise damaged(path, number, "its checksum does not fit")
                yield Line(Place(path.name, start, len(raw)), number, *checked)
                start += len(raw)


def damaged(path: Path, number: int, what: str) -> StoreCorrupt:
    """The error for damage in line `number` of `path`."""
    return StoreCorrupt(
        f"{path} is damaged in line {number}: {what}; put the file back from a copy, or start the run again in another "
        "directory"
    )


def read_body(directory: Path, place: Place) -> bytes:
    """The body of one line, checked again. Raises `StoreCorrupt` when it is not what it was."""
    path = directory / place.segment
    try:
        with path.open("rb") as file:
            file.seek(place.start)
            checked = unframe(file.read(place.length))
    except FileNotFoundError:
        checked = None
    if checked is None:
        raise StoreCorrupt(
            f"{path} is damaged at byte {place.start}: its checksum does not fit; put the file back from a copy, or start "
            "the run again in another directory"
        )
    return checked[1]


class Appender:
    """The writing end of a log. One process, holding the run's lock, has it.

    `end` is where the last line to keep ends; `dropped` says how many bytes after it were cut off.
    """

    def __init__(self, directory: Path, end: Place | None, disk: Disk, segment_bytes: int = SEGMENT_BYTES) -> None:
        create_directory(disk, directory)
        self._directory = directory
        self._disk = disk
        self._segment_bytes = segment_bytes
        self._number = 0
        self._size = 0
        self._descriptor: int | None = None
        self.dropped = 0
        files = segment_files(directory)
        if files:
            self._number = len(files)
            self._size = end.end if end is not None and end.segment == files[-1].name else 0
            with writing(files[-1]):
                self._reopen(files[-1])

    def append(self, bodies: Iterable[bytes]) -> list[Place]:
        """Write a batch and have the disk confirm it: one write, one fsync.

        A batch that cannot be written whole is taken back: `StoreFull`. After that, or an interrupt, nobody knows what the
        disk holds; the log has to be opened anew.
        """
        lines = [frame(body) for body in bodies]
        if not lines:
            return []
        if self._descriptor is None or self._size >= self._segment_bytes:
            self._next_segment()
        places = list(self._places(lines))
        assert self._descriptor is not None  # _next_segment has opened one
        with writing(self._path):
            try:
                write_all(self._disk, self._descriptor, b"".join(lines))
            except BaseException:  # also an interrupt: the batch is not whole
                self._take_back(self._descriptor)
                raise
        self._size = places[-1].end
        return places

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def _path(self) -> Path:
        return self._directory / _name(self._number)

    def _places(self, lines: list[bytes]) -> Iterator[Place]:
        start = self._size
        for line in lines:
            yield Place(self._path.name, start, len(line))
            start += len(line)

    def _take_back(self, descriptor: int) -> None:
        # What cannot be cut off now is a batch that nobody was promised: the next writer cuts it off or keeps it whole.
        try:
            self._disk.truncate(descriptor, self._size)
            self._disk.sync(descriptor)
        except OSError:
            pass

    def _next_segment(self) -> None:
        path = self._directory / _name(self._number + 1)
        self.close()
        with writing(path):
            self._descriptor = self._disk.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL)
            sync_directory(self._disk, self._directory)
        self._number += 1
        self._size = 0

    def _reopen(self, path: Path) -> None:
        self._descriptor = self._disk.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            self.dropped = path.stat().st_size - self._size
            if self.dropped:
                self._disk.truncate(self._descriptor, self._size)
            # Also what the last writer wrote whole and was killed before it could have it confirmed.
            self._disk.sync(self._descriptor)
            sync_directory(self._disk, self._directory)
        except OSError:
            self.close()
            raise


def _name(number: int) -> str:
    return f"{number:06d}.jsonl"
