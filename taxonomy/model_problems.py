"""What keeps plain data from being a model, in the words of somebody who writes the file.

Pydantic tells one error for each alternative of a field; here the alternative that was meant is found, so that a
typing slip is one problem and not four.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic_core import ErrorDetails

__all__ = ["ModelProblem", "model_problems"]

ModelProblem = tuple[tuple[str | int, ...], str, str]
"""The place in the data, what is wrong, how to mend it."""

_KEY: Final = "[key]"
"""How pydantic marks an error of a mapping's key, and not of its value."""

_TEXT: Final = ("a text", "put it in quotes, or write one text")
_WHOLE: Final = ("a whole number", "write digits alone")
_NUMBER: Final = ("a number", "write a number")
_TRUTH: Final = ("true or false", "write true or false")
_LIST: Final = ("a list", "write each item on its own line after a dash")
_KEYS: Final = ("a mapping", "write `key: value` lines below it")

_SHAPES: Final = {
    **dict.fromkeys(["string_type", "string_sub_type"], _TEXT),
    **dict.fromkeys(["int_type", "int_parsing", "int_from_float", "int_parsing_size"], _WHOLE),
    **dict.fromkeys(["float_type", "float_parsing", "finite_number"], _NUMBER),
    **dict.fromkeys(["bool_type", "bool_parsing"], _TRUTH),
    **dict.fromkeys(["list_type", "tuple_type"], _LIST),
    **dict.fromkeys(["dict_type", "mapping_type", "model_type", "model_attributes_type"], _KEYS),
}


@dataclass(frozen=True)
class _Wrong:
    """One thing wrong: `steps` as pydantic gives them (with the names of alternatives), `loc` those in the data.

    `errors` has several items where no alternative fits.
    """

    loc: tuple[str | int, ...]
    steps: tuple[str | int, ...]
    errors: tuple[ErrorDetails, ...]

    @property
    def kind(self) -> str:
        return self.errors[0]["type"]

    @property
    def is_shape(self) -> bool:
        """Whether the value is of another shape altogether, so that another alternative may have been meant."""
        return self.kind in _SHAPES or self.kind == "literal_error"


def model_problems(model: type[BaseModel], data: Any, errors: Sequence[ErrorDetails]) -> Iterator[ModelProblem]:
    """The problems behind a validation's errors; `data` is what was validated against `model`."""
    for wrong in _settle(data, (), (), [(e["loc"], e) for e in errors if not _is_short_of_good_ones(e)]):
        yield _said(wrong, model)


def _is_short_of_good_ones(error: ErrorDetails) -> bool:
    """Whether a list is long enough, but for its items with problems of their own: pydantic does not count those."""
    value = error.get("input")
    return error["type"] == "too_short" and isinstance(value, list) and len(value) >= error.get("ctx", {})["min_length"]


def _settle(
    node: Any,
    loc: tuple[str | int, ...],
    steps: tuple[str | int, ...],
    errors: Sequence[tuple[tuple[str | int, ...], ErrorDetails]],
) -> list[_Wrong]:
    """What is wrong at a place and below it. Errors come with the rest of their way from here."""
    found: list[_Wrong] = []
    inside: dict[str | int, list[tuple[tuple[str | int, ...], ErrorDetails]]] = {}
    alternatives: dict[str | int, list[tuple[tuple[str | int, ...], ErrorDetails]]] = {}
    for way, error in errors:
        if not way:
            found.append(_Wrong(loc, steps, (error,)))
        elif way == (_KEY,):
            found.append(_Wrong(loc, (*steps, _KEY), (error,)))
        elif error["type"] in ("missing", "invalid_key") and len(way) == 1:
            key = _as_written(node, way[0])
            found.append(_Wrong((*loc, key), (*steps, key), (error,)))
        else:
            (inside if _is_there(node, way[0]) else alternatives).setdefault(way[0], []).append((way[1:], error))
    for step, below in inside.items():
        found += _settle(node[step], (*loc, step), (*steps, step), below)
    branches = [_settle(node, loc, (*steps, name), below) for name, below in alternatives.items()]
    return found + _meant(node, loc, branches)


def _as_written(node: Any, key: str | int) -> str | int:
    """The key itself: pydantic tells true as 1."""
    return next((k for k in node if k == key), key) if isinstance(node, dict) else key


def _is_there(node: Any, step: str | int) -> bool:
    if isinstance(node, dict):
        return step in node
    return isinstance(node, list) and isinstance(step, int) and 0 <= step < len(node)


def _meant(node: Any, loc: tuple[str | int, ...], branches: Sequence[list[_Wrong]]) -> list[_Wrong]:
    """The problems of the alternative that was meant: of the right shape, with keys in common and the fewest slips."""
    fitting = [b for b in branches if not any(w.loc == loc and w.is_shape for w in b)]
    if fitting:
        return min(fitting, key=lambda branch: _slips(branch, node, loc))
    shapes = [w for b in branches for w in b if w.loc == loc]
    return [_Wrong(loc, shapes[0].steps, tuple(e for w in shapes for e in w.errors))] if shapes else []


def _slips(branch: Sequence[_Wrong], node: Any, loc: tuple[str | int, ...]) -> tuple[bool, int]:
    """How far an alternative is from what was written: a misspelt key, unknown and missing, is one slip."""
    here = [w.kind for w in branch if w.loc[:-1] == loc]
    unknown, missing = here.count("extra_forbidden"), here.count("missing")
    strange = isinstance(node, dict) and 0 < len(node) == unknown
    return strange, len(branch) - min(unknown, missing)


def _said(wrong: _Wrong, model: type[BaseModel]) -> ModelProblem:
    place = ".".join(map(str, wrong.loc)) or "the file"
    if wrong.steps[-1:] == (_KEY,):
        place = f"the key of {place}"
    error = wrong.errors[0]
    if wrong.kind == "extra_forbidden":
        known = _known_keys(model, wrong.steps[:-1])
        near = difflib.get_close_matches(str(wrong.loc[-1]), known, n=1)
        return wrong.loc, f"unknown key {place}", f"did you mean {near[0]}?" if near else f"keys are {', '.join(known)}"
    if wrong.kind == "missing":
        return wrong.loc[:-1], f"{place} is missing", f"write {wrong.loc[-1]}: …"
    if wrong.kind in ("too_short", "string_too_short", "too_long"):
        return wrong.loc, *_of_length(place, error)
    if wrong.kind == "invalid_key":
        if isinstance(wrong.loc[-1], bool):
            return wrong.loc, "a key is read as true or false", "put it in quotes: on, off, yes and no are no texts"
        return wrong.loc, f"the key {place} is no text", "put the key in quotes"
    if wrong.kind == "value_error":
        return wrong.loc, *_of_value(place, error)
    return wrong.loc, *_of_shape(place, wrong, model)


def _of_length(place: str, error: ErrorDetails) -> tuple[str, str]:
    rule = error.get("ctx", {})
    if error["type"] == "too_long":
        return f"{place} has {rule.get('actual_length', 'too many')} items", f"leave {rule['max_length']}"
    least = rule.get("min_length", 1)
    if not error.get("input"):
        return f"{place} is empty", "write at least one" if error["type"] == "too_short" else "write a text"
    return f"{place} has too few items", f"write at least {least}"


def _of_value(place: str, error: ErrorDetails) -> tuple[str, str]:
    """What a model's own check says: a wish that begins with "write", or a sentence on what is wrong."""
    said = error["msg"].removeprefix("Value error, ")
    if said.startswith("write "):
        return f"{place} is {_brief(error['input'])}, and has to be {said.removeprefix('write ')}", said
    return f"{place}: {said}", "drop what is too much, or add what is missing"


def _of_shape(place: str, wrong: _Wrong, model: type[BaseModel]) -> tuple[str, str]:
    value = wrong.errors[0].get("input")
    wanted = [_wanted(e) for e in wrong.errors]
    shapes = list(dict.fromkeys(what for what, _ in wanted))
    has = "empty" if value is None else _brief(value)
    if not wrong.loc:
        keys = _known_keys(model, wrong.steps)
        return f"{place} is {has}, and has to be {' or '.join(shapes)}", (
            f"write its keys: {', '.join(keys)}" if keys and shapes == [_KEYS[0]] else wanted[0][1]
        )
    mend = wanted[0][1] if len(shapes) == 1 and value is not None else f"write {' or '.join(shapes)}"
    return f"{place} is {has}, and has to be {' or '.join(shapes)}", mend


def _wanted(error: ErrorDetails) -> tuple[str, str]:
    """What should be there, and how to write it."""
    if error["type"] == "literal_error":
        expected = error.get("ctx", {}).get("expected", "another value")
        return expected, f"write {expected}"
    return _SHAPES.get(error["type"], ("another kind of value", "write it as a shipped file writes this key"))


def _known_keys(model: type[BaseModel], steps: Sequence[str | int]) -> list[str]:
    """The keys that may stand at a place."""
    kinds = _alternatives(model)
    for step in steps:
        below = [k for kind in kinds for inner in _inside(kind, step) for k in _alternatives(inner)]
        chosen = [kind for kind in kinds if getattr(kind, "__name__", "") == step]
        kinds = chosen or below or kinds
    models = [k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)]
    return [f.alias or name for name, f in models[0].model_fields.items()] if models else []


def _alternatives(kind: Any) -> list[Any]:
    if isinstance(kind, type) and issubclass(kind, RootModel):
        return _alternatives(kind.model_fields["root"].annotation)
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    if get_origin(kind) in (dict, list, tuple) or not get_args(kind):
        return [kind]
    return [inner for part in get_args(kind) for inner in _alternatives(part)]


def _inside(kind: Any, step: str | int) -> list[Any]:
    """The kinds of value that a kind holds at a step."""
    if get_origin(kind) is dict:
        return [get_args(kind)[1]]
    if get_origin(kind) in (list, tuple):
        return [k for k in get_args(kind) if k is not Ellipsis] if isinstance(step, int) else []
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [f.annotation for name, f in kind.model_fields.items() if step in (name, f.alias)]
    return []


def _brief(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
