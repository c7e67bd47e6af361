"""The direction of imports, read off the source of every module (imports inside functions too).

flows -> generators | validators | annotation | evaluation | alignment -> sandbox -> data -> taxonomy -> errors
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "agentbound"

BELOW: dict[str, set[str]] = {
    "errors": set(),
    "taxonomy": {"errors"},
    "data": {"errors", "taxonomy"},
    "sandbox": {"errors", "taxonomy", "data"},
    "generators": {"errors", "taxonomy", "data", "sandbox"},
    "validators": {"errors", "taxonomy", "data", "sandbox"},
    "annotation": {"errors", "taxonomy", "data", "sandbox"},
    "evaluation": {"errors", "taxonomy", "data", "sandbox"},
    "alignment": {"errors", "taxonomy", "data", "sandbox"},
}
BELOW["flows"] = set(BELOW)

ONLY_IN: dict[str, set[str]] = {"prefect": {"flows"}, "typer": {"flows"}}
"""Outside packages that a single layer may import."""

MODEL_CLIENTS = ("anthropic", "dspy", "openai")
"""Imported by one module of generators and one of evaluation at most, or by one module below both."""


def imports(source: str) -> Iterator[str]:
    """The dotted names a module imports, wherever in it: `from a import b` gives `a.b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ("." * node.level + f"{node.module or ''}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__"):
                yield str(node.args[0].value)


def offences(layer: str, source: str) -> list[str]:
    """What `source`, a module of `layer`, imports and may not."""
    found = []
    for name in imports(source):
        top, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if not top:
            found.append(f"{name}: import absolutely")
        elif top == "agentbound" and target in BELOW and target != layer and target not in BELOW[layer]:
            found.append(f"{name}: {layer} stands beside or below {target}")
        elif layer not in ONLY_IN.get(top, {layer}):
            found.append(f"{name}: only {', '.join(sorted(ONLY_IN[top]))} may import {top}")
    return found


def strewn(users: set[tuple[str, str]]) -> bool:
    """Whether the model clients are imported in more places than is allowed; `users` are (layer, module)."""
    layers = sorted(layer for layer, _ in users)
    shared_below = len(layers) == 1 and layers[0] in ("sandbox", "data")
    one_each = len(set(layers)) == len(layers) and set(layers) <= {"generators", "evaluation"}
    return not (shared_below or one_each)


def modules() -> list[tuple[str, Path]]:
    """Every module but the package's own `__init__`, with its layer."""
    found = [(layer, path) for layer in BELOW for path in sorted((PACKAGE / layer).resolve().rglob("*.py"))]
    return [("errors", PACKAGE / "errors.py"), *found]


def label(value: object) -> str | None:
    return f"{value.parent.name}/{value.name}" if isinstance(value, Path) else None


def test_every_layer_has_a_rule() -> None:
    layers = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert layers == set(BELOW) - {"errors"}


@pytest.mark.parametrize(("layer", "path"), modules(), ids=label)
def test_imports_point_down(layer: str, path: Path) -> None:
    assert offences(layer, path.read_text(encoding="utf-8")) == []


def test_model_clients_are_imported_in_few_places() -> None:
    users = {
        (layer, path.name)
        for layer, path in modules()
        if {name.partition(".")[0] for name in imports(path.read_text(encoding="utf-8"))} & set(MODEL_CLIENTS)
    }
    assert not strewn(users), sorted(users)


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("taxonomy", "from agentbound.data.records import Family"),
        ("data", "import agentbound.sandbox.world"),
        ("sandbox", "def f():\n    from agentbound import validators"),
        ("validators", "from agentbound.generators.loop import run"),
        ("generators", "import importlib\nimportlib.import_module('agentbound.flows.cli')"),
        ("evaluation", "if True:\n    import prefect.tasks"),
        ("sandbox", "from .world import World"),
        ("errors", "from agentbound.taxonomy import load"),
    ],
)
def test_an_offence_is_seen(layer: str, source: str) -> None:
    assert len(offences(layer, source)) == 1


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("flows", "import prefect\nfrom agentbound.validators.gate import Gate"),
        ("sandbox", "from agentbound.sandbox.world import World\nfrom agentbound.data import canonical"),
        ("data", "import json\nfrom agentbound import __version__"),
    ],
)
def test_what_is_allowed_is_no_offence(layer: str, source: str) -> None:
    assert offences(layer, source) == []


@pytest.mark.parametrize(
    ("users", "expected"),
    [
        (set(), False),
        ({("generators", "lm.py"), ("evaluation", "agents.py")}, False),
        ({("sandbox", "client.py")}, False),
        ({("generators", "lm.py"), ("generators", "other.py")}, True),
        ({("sandbox", "client.py"), ("evaluation", "agents.py")}, True),
        ({("validators", "reader.py")}, True),
    ],
    ids=["none", "one each", "one below", "two in a layer", "below and above", "elsewhere"],
)
def test_strewn(users: set[tuple[str, str]], expected: bool) -> None:
    assert strewn(users) is expected
