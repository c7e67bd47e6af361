"""Chance that can be drawn again: streams derived from a secret, one for each purpose."""

from __future__ import annotations

import hashlib
import hmac
import random


def rng_of(secret: bytes, *path: str | int) -> random.Random:
    """A source of chance for one purpose. Equal secrets and paths give equal streams; nothing public leads to one."""
    message = "/".join(map(str, path)).encode()
    return random.Random(int.from_bytes(hmac.new(secret, message, hashlib.sha256).digest(), "big"))
