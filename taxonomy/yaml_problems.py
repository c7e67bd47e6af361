"""What is wrong with a YAML text, in plain words: line, what it is, how to mend it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import yaml

__all__ = ["YamlProblem", "holds_itself", "node_problems", "syntax_problem"]

YamlProblem = tuple[int, str, str]
"""Line, what is wrong, how to mend it."""

_QUOTES: Final = "put the text in quotes"
_MENDS: Final = (
    # What the parser says, and what mostly lies behind it.
    ("mapping values are not allowed", f"{_QUOTES} where it holds a colon, or mend the indentation"),
    ("cannot start any token", f"indent with spaces; {_QUOTES} where it begins with @, ` or %"),
    ("undefined alias", f"{_QUOTES} where it begins with *"),
    ("while scanning an alias", f"{_QUOTES} where it begins with *"),
    ("determine a constructor", f"{_QUOTES} where it begins with !"),
    ("another document", "keep one document a file: drop the line ---"),
    ("nesting depth", "write it with fewer levels"),
    ("did not find expected", "close the bracket, brace or quote that is open, or mend the indentation"),
    ("unexpected end of stream", "close the quote that is open"),
    ("could not find expected ':'", "write key: value, or close the quote that is open"),
    ("for merging", "write the keys out instead of <<"),
)
_ANYTHING: Final = "put texts with : # < { or [ in quotes, and indent with spaces"


def syntax_problem(text: str, error: Exception) -> YamlProblem:
    """The place and the sense of what the parser says."""
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return line, f"no YAML: it holds the character {_code(error.character)}", "take the character out"
    if not isinstance(error, yaml.MarkedYAMLError):
        return 1, "no YAML: a value cannot be read", "put values that are meant as text in quotes"
    mark = error.problem_mark or error.context_mark
    if mark and error.context_mark and mark.line >= text.count("\n"):
        mark = error.context_mark  # what is open at the end of the file began there
    said = " ".join(filter(None, [error.context, error.problem]))
    mend = next((mend for part, mend in _MENDS if part in said), _ANYTHING)
    problem = (
        str(error.problem)
        .removeprefix("but ")
        .replace("could not determine a constructor for the tag", "there is no tag")
    )
    return mark.line + 1 if mark else 1, f"no YAML: {problem}", mend


def _code(character: Any) -> str:
    return f"U+{character if isinstance(character, int) else ord(character[0]):04X}"


def node_problems(root: yaml.Node | None) -> list[YamlProblem]:
    """Keys that stand twice, keys that are no words, and values that are not what their form says."""
    problems: list[YamlProblem] = []
    seen: set[int] = set()
    waiting = [root] if root else []
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # named by an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            problems += _key_problems(node)
            waiting += [child for pair in node.value for child in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
        else:
            problems += _value_problems(node)
    return sorted(set(problems))


def _key_problems(node: yaml.MappingNode) -> Iterator[YamlProblem]:
    first: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            yield line, "a list or a mapping stands where a key should", "write one word as the key, or use quotes"
        elif key.value in first:
            yield line, f"the key {key.value} stands twice", f"keep this one or that of line {first[key.value]}"
        else:
            first[key.value] = line


def _value_problems(node: yaml.Node) -> Iterator[YamlProblem]:
    constructor = yaml.constructor.SafeConstructor()
    try:
        constructor.construct_document(node)
    except yaml.MarkedYAMLError as error:
        # A merge key is a scalar that only makes sense in its mapping; nothing is wrong with it by itself.
        if not node.tag.endswith(":merge"):
            yield syntax_problem("", error)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError):
        kind = {"timestamp": "day", "int": "whole number", "float": "number", "bool": "true or false"}
        name = kind.get(node.tag.rpartition(":")[2], "value of its kind")
        shown = node.value if len(node.value) <= 40 else node.value[:39] + "…"
        yield node.start_mark.line + 1, f"{shown} is no {name}", "mend it, or put it in quotes if it is a text"


def holds_itself(data: Any) -> bool:
    """Whether a list or mapping stands inside itself, by an alias."""
    open_: set[int] = set()
    clear: set[int] = set()

    def turns(node: Any) -> bool:
        if not isinstance(node, dict | list) or id(node) in clear:
            return False
        if id(node) in open_:
            return True
        open_.add(id(node))
        found = any(map(turns, node.values() if isinstance(node, dict) else node))
        open_.discard(id(node))
        clear.add(id(node))
        return found

    return turns(data)
