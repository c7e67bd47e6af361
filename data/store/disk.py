"""The few calls by which the store touches the disk, so that a full or a read-only one can be put in their place."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentbound.errors import StoreError, StoreFull

_FULL = {errno.ENOSPC, errno.EDQUOT}
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}


class Disk:
    """The operating system's calls as they are. Tests replace this one object."""

    def open(self, path: Path, flags: int, mode: int = 0o644) -> int:
        return os.open(path, flags | os.O_CLOEXEC, mode)

    def write(self, descriptor: int, data: memoryview) -> int:
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        os.fsync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        os.ftruncate(descriptor, size)

    def make_directory(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the operating system's refusal to write `path` into a `StoreError` that says what to do."""
    try:
        yield
    except OSError as error:
        raise _refusal(path, error) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the operating system's refusal to read below `path` into a `StoreError` that says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{error.filename or path} cannot be read ({error.strerror}); mend its permissions or the disk and try again"
        ) from error


def _refusal(path: Path, error: OSError) -> StoreError:
    if error.errno in _FULL:
        return StoreFull(
            f"the disk is full: {path} could not be written; free some space and run the same command again, "
            "everything recorded so far is kept"
        )
    if error.errno in _READ_ONLY:
        return StoreFull(
            f"{path} cannot be written ({error.strerror}); make its directory writable or choose another place with --out"
        )
    if error.errno == errno.EFBIG:
        return StoreFull(
            f"{path} may not grow any further ({error.strerror}); raise the limit on file sizes and run the same command "
            "again, everything recorded so far is kept"
        )
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return StoreError(f"{path} cannot be a directory because a file is in the way; choose another place with --out")
    return StoreError(
        f"{path} could not be written ({error.strerror}); see to the disk and run the same command again, "
        "everything recorded so far is kept"
    )


def write_all(disk: Disk, descriptor: int, data: bytes) -> None:
    """Write every byte and have the disk confirm it. The system may take a write in pieces."""
    rest = memoryview(data)
    while rest:
        rest = rest[disk.write(descriptor, rest) :]
    disk.sync(descriptor)


def sync_directory(disk: Disk, directory: Path) -> None:
    """Make names created in `directory` survive a loss of power."""
    descriptor = disk.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        disk.sync(descriptor)
    finally:
        os.close(descriptor)


def create_directory(disk: Disk, path: Path) -> None:
    """Make `path` with its parents, durably."""
    with writing(path):
        if not path.is_dir():
            disk.make_directory(path)
            sync_directory(disk, path.parent)


def write_atomically(disk: Disk, path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace `path` by `data` so that any reader, also after a crash, sees the old or the new whole."""
    draft = path.with_name(f"{path.name}.tmp")
    with writing(path):
        draft.unlink(missing_ok=True)  # a leftover may have other permissions than are wanted now
        descriptor = disk.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            write_all(disk, descriptor, data)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        finally:
            os.close(descriptor)
        draft.replace(path)
        sync_directory(disk, path.parent)
