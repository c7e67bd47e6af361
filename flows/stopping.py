"""Ending at once: what Ctrl-C does in the middle of a build, and how its processes end when it is killed.

Prefect would first tell its server, which Ctrl-C has ended as well, and try again for a minute. The run store needs no
goodbye: whatever it has recorded stays, as after a kill.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import active_children, parent_process
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

STOPPED: Final = "agentbound: stopped; the same command goes on where this one was"
INTERRUPTED: Final = 130
_STDERR: Final = 2


@contextmanager
def ends_at_once(clear: Callable[[], None], server: Synchronized[int]) -> Iterator[None]:
    """While it lasts, Ctrl-C ends the processes of this one and the server, clears the display, says so, and leaves."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may take signals
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            for child in active_children():
                child.kill()
            end(server.get_obj().value)  # without the lock, which the interrupted line may hold
            with suppress(RuntimeError):  # the signal may come while a line is being written, which takes no second one
                clear()
            os.write(_STDERR, f"{STOPPED}\n".encode())
        finally:
            os._exit(INTERRUPTED)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def follow(server: Synchronized[int]) -> None:
    """Begin a worker: Ctrl-C is its parent's affair; when the parent is gone, end the server of the build, and itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_outlive_nobody, args=(server,), daemon=True).start()


def end(pid: int) -> None:
    """End a process, 0 being none; one that is gone already is no error."""
    if pid:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _outlive_nobody(server: Synchronized[int]) -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        end(server.get_obj().value)  # without the lock, which the parent may have died with
        os._exit(1)
