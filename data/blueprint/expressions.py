"""Expressions of a blueprint: arithmetic and comparisons over values, nothing else.

An expression is checked when it is parsed (node by node, against a list of what is allowed) and evaluated by
simpleeval. `<name.form>` is written `name.form` here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from simpleeval import DEFAULT_OPERATORS, EvalWithCompoundTypes  # type: ignore[import-untyped]

__all__ = ["Expression", "ExpressionFault", "parse"]

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {"min": min, "max": max, "abs": abs}

_OPERATORS: Final = (
    *(ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.USub, ast.UAdd, ast.Not, ast.And, ast.Or),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn),
)
_NODES: Final = (
    *(ast.Expression, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call),
    *(ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple, *_OPERATORS),
)
_EVALUATED: Final = {k: v for k, v in DEFAULT_OPERATORS.items() if k in _OPERATORS}


class ExpressionFault(ValueError):
    """What is wrong with an expression, without a place: the caller knows the file and the line."""


@dataclass(frozen=True)
class Expression:
    """A parsed expression; `names` are the values it reads, with their forms (`amount`, `amount.round`)."""

    text: str
    tree: ast.expr
    names: frozenset[str]

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Evaluate. Raises `ExpressionFault` for a missing value, a division by zero and the like."""
        if isinstance(self.tree, ast.Name):
            if self.tree.id not in values:
                raise ExpressionFault(f"no value {self.tree.id} in this draw")
            return values[self.tree.id]
        evaluator = EvalWithCompoundTypes(operators=_EVALUATED, functions=FUNCTIONS, names=values)
        try:
            return evaluator.eval(self.text, previously_parsed=self.tree)
        except Exception as error:
            raise ExpressionFault(f"`{self.text}` cannot be evaluated: {error}") from error


@lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """Parse and check an expression. Raises `ExpressionFault`."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ExpressionFault(f"`{text}` does not parse: {error.msg}") from error
    body = _Flat().visit(tree).body
    called = {id(n.func) for n in ast.walk(body) if isinstance(n, ast.Call)}
    names = set()
    for node in ast.walk(body):
        if not isinstance(node, _NODES):
            raise ExpressionFault(f"`{text}` uses {type(node).__name__}, which expressions do not have")
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS):
            raise ExpressionFault(f"`{text}` calls something else than {', '.join(FUNCTIONS)}")
        if isinstance(node, ast.Name) and id(node) not in called:
            names.add(node.id)
    return Expression(text, body, frozenset(names - {"true", "false"}))


class _Flat(ast.NodeTransformer):
    """`name.form` is one name, as in a placeholder; `true` and `false` are what YAML says."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name):
            return ast.copy_location(ast.Name(f"{node.value.id}.{node.attr}", ast.Load()), node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        constants = {"true": True, "false": False}
        return ast.copy_location(ast.Constant(constants[node.id]), node) if node.id in constants else node
