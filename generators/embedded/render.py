"""Writing values into a blueprint. Its data are compiled once, into functions of a draw, and run for each family.

What has no placeholder, condition or repetition in it is constant and shared by all families.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentbound.data.blueprint.conditions import LEFT_OUT, is_branch
from agentbound.data.blueprint.placeholders import PLACEHOLDER
from agentbound.data.blueprint.wording import Alternatives, Claim, Piece
from agentbound.generators.embedded.draws import Draws, Undrawable
from agentbound.generators.embedded.values import draw_values, evaluate, put, whole_between

__all__ = ["Template", "compile_node", "compile_text", "say"]

Template = Callable[[Draws], Any]


class _Constant:
    """A template that needs no draw."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, _draws: Draws) -> Any:
        return self.value


class _Many(list[Any]):
    """Rows of one `repeat`, which stand in the list side by side."""


def compile_node(node: Any) -> Template:
    """A template for any piece of a blueprint's data."""
    if isinstance(node, str):
        return compile_text(node)
    if isinstance(node, list):
        return _compile_list(node)
    if isinstance(node, dict):
        return _compile_mapping(node)
    return _Constant(node)


def compile_text(text: str) -> Template:
    """A text with its placeholders; one that is a placeholder and nothing else gives the value with its type."""
    parts = PLACEHOLDER.split(text)
    if len(parts) == 1:
        return _Constant(text)
    if len(parts) == 3 and not parts[0] and not parts[2]:
        name = parts[1]
        return lambda draws: _read(draws, name)
    pieces = [(part, number % 2 == 1) for number, part in enumerate(parts) if part]
    return lambda draws: "".join([_spell(_read(draws, p)) if named else p for p, named in pieces])


def _read(draws: Draws, name: str) -> Any:
    try:
        return draws.values[name]
    except KeyError:
        raise Undrawable(f"<{name}> is read, and this draw leaves it out") from None


def _spell(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _compile_list(node: list[Any]) -> Template:
    items = [compile_node(child) for child in node]
    if all(isinstance(item, _Constant) for item in items):
        return _Constant([item.value for item in items if isinstance(item, _Constant)])

    def made(draws: Draws) -> list[Any]:
        out: list[Any] = []
        for item in items:
            value = item(draws)
            if type(value) is _Many:
                out.extend(value)
            elif value is not LEFT_OUT:
                out.append(value)
        return out

    return made


def _compile_mapping(node: dict[Any, Any]) -> Template:
    if is_branch(node):
        return _compile_branch(node)
    if "repeat" in node and "row" in node:
        whole = _compile_repeat(node)
    else:
        whole = _compile_items({k: v for k, v in node.items() if k != "if"})
    if "if" not in node:
        return whole
    condition = node["if"]
    return lambda draws: whole(draws) if evaluate(draws, condition) else LEFT_OUT


def _compile_items(node: Mapping[Any, Any]) -> Template:
    items = [(str(key), compile_node(child)) for key, child in node.items()]
    if all(isinstance(item, _Constant) for _, item in items):
        return _Constant({key: item.value for key, item in items if isinstance(item, _Constant)})

    def made(draws: Draws) -> dict[str, Any]:
        values = [(key, item(draws)) for key, item in items]
        return {key: value for key, value in values if value is not LEFT_OUT}

    return made


def _compile_branch(node: Mapping[str, Any]) -> Template:
    condition, then = node["if"], compile_node(node["then"])
    other = compile_node(node["else"]) if "else" in node else _Constant(LEFT_OUT)
    return lambda draws: then(draws) if evaluate(draws, condition) else other(draws)


def _compile_repeat(node: Mapping[str, Any]) -> Template:
    count = node["repeat"]
    ends = [_bare(end) for end in (count if isinstance(count, list) else [count, count])]
    specs, row = node.get("with") or {}, compile_node(node["row"])

    def made(draws: Draws) -> _Many:
        rows = _Many()
        for number in range(whole_between(draws, ends)):
            inner = draws.inner()
            put(inner, "n", number + 1)
            draw_values(inner, specs)
            rows.append(row(inner))
        return rows

    return made


def _bare(end: Any) -> Any:
    return end[1:-1] if isinstance(end, str) and end.startswith("<") else end


def say(pieces: tuple[Piece, ...], draws: Draws, choose: Callable[[int], int]) -> tuple[str, list[str]]:
    """A wording as text, and the spans in it that claim permission. `choose(n)` picks one of n alternatives."""
    out: list[str] = []
    claims: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            out.append(_spell(compile_text(piece)(draws)))
        elif isinstance(piece, Alternatives):
            text, inner = say(piece.options[choose(len(piece.options))], draws, choose)
            out.append(text)
            claims += inner
        elif isinstance(piece, Claim):
            text, inner = say(piece.pieces, draws, choose)
            out.append(text)
            claims.append(text)
    return "".join(out), claims
