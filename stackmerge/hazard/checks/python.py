"""Python files through Python's own parser: definitions with their scopes, signatures and calls."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


@lru_cache(maxsize=32)
def tree(text: str) -> ast.Module | None:
    """The module; None where Python refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def bodies(node: ast.AST, scope: str = "") -> Iterator[tuple[str, list[ast.stmt]]]:
    """Every list of statements, with a name for its place: the same place has the same name on every side."""
    for field in _BODIES:
        inner = getattr(node, field, None)
        if not isinstance(inner, list) or not inner:
            continue
        if all(isinstance(s, ast.stmt) for s in inner):
            yield f"{scope}/{field}" if field != "body" else scope, inner
        for child in inner:
            name = child.name if isinstance(child, Definition) else type(child).__name__
            yield from bodies(child, f"{scope}.{name}")


@dataclass(frozen=True)
class Signature:
    """What a function takes. ``named`` are the keywords it knows; None where it takes any."""

    positional: tuple[str, ...]
    required: int
    any_positional: bool
    named: frozenset[str] | None
    required_named: frozenset[str]

    def takes(self, call: Call) -> bool:
        """Would the call be accepted?"""
        if call.positional > len(self.positional) and not self.any_positional:
            return False
        given = set(self.positional[: call.positional])
        if self.named is not None and not call.named <= self.named:
            return False
        if call.named & given:
            return False
        needed = set(self.positional[: self.required]) | self.required_named
        return needed <= given | call.named


@dataclass(frozen=True)
class Call:
    """One call: its line, and what it passes. ``attribute``: through a dot."""

    line: int
    name: str
    positional: int
    named: frozenset[str]
    attribute: bool


def signatures(module: ast.Module) -> dict[str, Signature]:
    """The signature of every function by its dotted name; a class has its ``__init__``'s."""
    found: dict[str, Signature] = {}
    for scope, body in bodies(module):
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{scope}.{node.name}".lstrip(".")
                found[name] = _signature(node, in_class=_in_class(module, scope))
    return found


@lru_cache(maxsize=64)
def _classes(module: ast.Module) -> frozenset[str]:
    return frozenset(
        f"{scope}.{node.name}"
        for scope, body in bodies(module)
        for node in body
        if isinstance(node, ast.ClassDef)
    )


def _in_class(module: ast.Module, scope: str) -> bool:
    return scope in _classes(module)


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, *, in_class: bool) -> Signature:
    spec = node.args
    positional = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    required = len(positional) - len(spec.defaults)
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
    if in_class and not static and positional:
        positional, required = positional[1:], max(0, required - 1)
    only = [a.arg for a in spec.kwonlyargs]
    needed = {a.arg for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is None}
    by_name = frozenset([*positional, *only]) - {a.arg for a in spec.posonlyargs}
    return Signature(
        tuple(positional),
        required,
        spec.vararg is not None,
        None if spec.kwarg else by_name,
        frozenset(needed),
    )


def calls(module: ast.Module, names: set[str], lines: set[int]) -> Iterator[Call]:
    """The calls of functions by name on some lines; those that unpack arguments are left out."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            continue
        if isinstance(node.func, ast.Attribute):
            name, line = node.func.attr, node.func.end_lineno or node.lineno
        else:
            name, line = node.func.id, node.lineno
        if name not in names or line not in lines:
            continue
        unpacks = any(isinstance(a, ast.Starred) for a in node.args) or any(
            k.arg is None for k in node.keywords
        )
        if not unpacks:
            named = frozenset(k.arg for k in node.keywords if k.arg)
            yield Call(line, name, len(node.args), named, isinstance(node.func, ast.Attribute))
