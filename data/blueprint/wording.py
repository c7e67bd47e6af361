"""The two marks of a wording: `{one|another}` and `[[a claim of permission]]`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = ["Alternatives", "Claim", "Piece", "WordingFault", "parse_wording"]

_MARKS: Final = re.compile(r"\[\[|\]\]|[{|}]")


class WordingFault(ValueError):
    """A mark that is not closed, or has no meaning where it stands."""


@dataclass(frozen=True)
class Alternatives:
    """One of several sequences; a sequence may be empty."""

    options: tuple[tuple[Piece, ...], ...]


@dataclass(frozen=True)
class Claim:
    """A span that claims permission."""

    pieces: tuple[Piece, ...]


Piece = str | Alternatives | Claim


@lru_cache(maxsize=8192)
def parse_wording(text: str) -> tuple[Piece, ...]:
    """A wording as a sequence of texts, alternatives and claims. Raises `WordingFault`."""
    tokens = [t for t in re.split(f"({_MARKS.pattern})", text) if t]
    pieces, end, _ = _sequence(tokens, 0, "")
    if end != len(tokens):
        raise WordingFault(f"a {tokens[end]} closes nothing")
    return pieces


def _sequence(tokens: list[str], at: int, inside: str) -> tuple[tuple[Piece, ...], int, str]:
    """Pieces up to the mark that ends them; `inside` is the mark that opened: nothing, `{` or `[[`."""
    pieces: list[Piece] = []
    while at < len(tokens):
        token = tokens[at]
        if token == "{":
            piece, at = _alternatives(tokens, at + 1)
            pieces.append(piece)
        elif token == "[[":
            if inside == "[[":
                raise WordingFault("a claim stands in a claim")
            inner, at, closed = _sequence(tokens, at + 1, "[[")
            if closed != "]]":
                raise WordingFault("a [[ is not closed")
            pieces.append(Claim(inner))
        elif token in ("}", "]]") or (token == "|" and inside == "{"):
            return tuple(pieces), (at if not inside else at + 1), token
        elif token == "|":
            raise WordingFault("a [[ is not closed" if inside else "a | stands outside of braces")
        else:
            pieces.append(token)
            at += 1
    return tuple(pieces), at, ""


def _alternatives(tokens: list[str], at: int) -> tuple[Alternatives, int]:
    options = []
    closed = "|"
    while closed == "|":
        option, at, closed = _sequence(tokens, at, "{")
        options.append(option)
    if closed != "}":
        raise WordingFault("a { is not closed")
    if len(options) < 2:
        raise WordingFault("braces hold one text; write {one|another}")
    return Alternatives(tuple(options)), at
