"""Prefect's settings for a run on one machine, set before Prefect is imported.

Its server starts slowly (some fifteen seconds), so it gets time; it keeps its state in a directory of our own, one
process at a time, because two servers on one database get in each other's way.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SETTINGS = {
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "240",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL",
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    "DO_NOT_TRACK": "1",
    "PYTHONWARNINGS": "ignore:resource_tracker:UserWarning",  # what Ctrl-C leaves it cleans up, and need not say so
}


@contextmanager
def prefect_settings(run: Path) -> Iterator[None]:
    """Set the environment for Prefect unless the user has set it; hold the shared home, or use one inside the run."""
    if "prefect" in sys.modules:
        yield  # somebody else's process, a test harness or a worker: its settings stand
        return
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    if "PREFECT_HOME" in os.environ or "PREFECT_API_URL" in os.environ:
        yield
        return
    with _home(run) as home:
        os.environ["PREFECT_HOME"] = str(home)
        yield


@contextmanager
def _home(run: Path) -> Iterator[Path]:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentbound" / "prefect"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = (cache / "lock").open("w")
    except OSError:
        yield run / "prefect"
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield run / "prefect"
        else:
            yield cache
