"""The lock that makes a run have one writer."""

from __future__ import annotations

import errno
import fcntl
import os
import weakref
from pathlib import Path

from agentbound.data.store.disk import Disk, writing
from agentbound.errors import StoreBusy, StoreError

_HELD: weakref.WeakSet[WriterLock] = weakref.WeakSet()


class WriterLock:
    """An exclusive lock on `path`, held until `release` or the end of the process, however it ends.

    The file holds the holder's process id while it is held. A child made by fork does not keep the lock: a worker that
    outlives a killed parent must not shut the next run out. Raises `StoreBusy` naming the holder.
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path = path
        with writing(path):
            self._descriptor: int | None = disk.open(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._close()
            raise self._refusal(error) from error
        _HELD.add(self)
        try:
            with writing(path):
                disk.truncate(self._descriptor, 0)
                disk.write(self._descriptor, memoryview(f"{os.getpid()}\n".encode()))
        except StoreError:
            self._close()
            raise

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def release(self) -> None:
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
        self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _refusal(self, error: OSError) -> StoreError:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            pid = _written_pid(self._path)
            who = f"process {pid}" if pid else "another process"
            return StoreBusy(
                f"{who} is writing to {self._path.parent}; wait for it or stop it, then run the same command again"
            )
        return StoreError(f"{self._path} cannot be locked ({error.strerror}); choose a local disk with --out")


def writer_pid(path: Path) -> int | None:
    """The process that holds the lock at `path`, as far as a reader can tell without taking it; None where none does."""
    pid = _written_pid(path)
    if pid is None:
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return pid  # another user's, and alive
    return pid


def _written_pid(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() and int(text) > 0 else None


def _let_go_in_child() -> None:
    for lock in list(_HELD):
        lock._close()


os.register_at_fork(after_in_child=_let_go_in_child)
