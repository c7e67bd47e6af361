"""One way to write a value as bytes, so that equal values hash alike."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

_AS_IT_IS: Final = frozenset({str, int, bool, type(None)})
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: Any) -> str:
    """JSON with sorted keys, no spaces, UTF-8 as it is, and 25.0 written as 25.

    Raises ValueError for NaN and the infinities, TypeError for what JSON cannot say.
    """
    return write(plain(value))


def write(value: Any) -> str:
    """The canonical JSON of a value that is `plain` already."""
    return _ENCODER.encode(value)


def digest(value: Any) -> str:
    """The SHA-256 of `canonical(value)`, 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


def plain(value: Any) -> Any:
    """The value as its canonical JSON is read again: 25.0 as 25, tuples as lists.

    Raises TypeError for other keys than text.
    """
    if type(value) in _AS_IT_IS:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        if not all(isinstance(k, str) for k in value):
            raise TypeError("a key that is not text")
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value
