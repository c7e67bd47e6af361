"""What every test stands on: no network, no colour, no state of the user's, and the same examples in every run."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

HOME = tempfile.mkdtemp(prefix="agentbound-tests-")
"""Where Prefect and the Hub's cache live in this session, instead of the user's home."""

atexit.register(shutil.rmtree, HOME, ignore_errors=True)

# Set while pytest starts, before any test module can import prefect, datasets or huggingface_hub, which read their
# environment at import.
os.environ.update(
    COLUMNS="120",
    DO_NOT_TRACK="1",
    HF_HOME=f"{HOME}/huggingface",
    HF_HUB_OFFLINE="1",
    NO_COLOR="1",
    OMP_NUM_THREADS="1",
    PREFECT_HOME=f"{HOME}/prefect",
    PREFECT_LOGGING_TO_API_ENABLED="false",
    PREFECT_SERVER_ANALYTICS_ENABLED="false",
    PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS="240",
    TERM="dumb",
)
for name in ("ANTHROPIC_API_KEY", "FORCE_COLOR", "GITHUB_ACTIONS", "HF_TOKEN", "OPENAI_API_KEY", "PYTHONSAFEPATH"):
    os.environ.pop(name, None)

# `pytest --hypothesis-profile=explore` looks further, at other examples each time.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], max_examples=50
)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("repeatable")

LOOPBACK = ("127.", "::1", "localhost")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top of the repository."""
    return ROOT


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    """A connection that leaves the machine is an error that names where it wanted to go."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(LOOPBACK):
            raise RuntimeError(f"a test wanted to connect to {address}; tests use no network")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield
