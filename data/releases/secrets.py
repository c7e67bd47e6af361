"""Everything a release hides or names by derives from one 256-bit secret, a label a purpose."""

from __future__ import annotations

import hmac
import uuid
from typing import Final

_DOMAIN: Final = b"agentbound/1/"


def derive(secret: bytes, label: str) -> bytes:
    """32 bytes for one purpose. Nothing that is derived tells anything of the secret or of another purpose."""
    return hmac.digest(secret, _DOMAIN + label.encode(), "sha256")


def task_id(secret: bytes, family_id: str, sibling: str) -> str:
    """The public id of a task, from which neither family nor sibling can be worked out."""
    return "t" + hmac.digest(derive(secret, "task ids"), f"{family_id}/{sibling}".encode(), "sha256").hex()[:20]


def canary(secret: bytes) -> str:
    """The GUID that stands in every file, so that a copy in a training set can be found."""
    return str(uuid.UUID(bytes=derive(secret, "canary")[:16], version=4))
