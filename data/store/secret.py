"""The release secret of a run: 64 hexadecimal digits, readable by its owner alone. It is never shown or logged."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from agentbound.data.store.disk import Disk, write_atomically
from agentbound.errors import StoreError, UsageError

_FORM = re.compile(r"[0-9a-f]{64}")


def read_secret(path: Path) -> str:
    """The secret in a file of the user's, lower case. Raises `UsageError` when there is none of the right form."""
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the secret cannot be read from {path} ({type(error).__name__}); name a file that holds it"
        ) from error
    return checked(text, str(path))


def checked(text: str, source: str) -> str:
    """`text` without white space around it, lower case, if it is a secret; the error does not repeat it."""
    secret = text.strip().lower()
    if not _FORM.fullmatch(secret):
        raise UsageError(
            f"{source} holds no release secret: 64 hexadecimal digits are wanted, as `openssl rand -hex 32` prints"
        )
    return secret


def settle(disk: Disk, path: Path, given: str | None) -> str:
    """The secret of a run that is being made: the one given, the one a killed start left behind, or a new one."""
    secret = checked(given, "the secret given") if given is not None else None
    if secret is None:
        secret = read_secret(path) if path.exists() else secrets.token_hex(32)
    write_atomically(disk, path, f"{secret}\n".encode(), mode=0o600)
    return secret


def recall(path: Path, given: str | None) -> str:
    """The secret of a run that exists. Raises `UsageError` when another one is given, `StoreError` when it is gone."""
    if not path.exists():
        raise StoreError(
            f"{path} is missing, and the release depends on it; put it back, or build into another directory"
        )
    kept = read_secret(path)
    if given is not None and checked(given, "the secret given") != kept:
        raise UsageError(f"{path.parent} was made with another secret; leave --secret out, or choose another --out")
    return kept
