"""Parsing through ast-grep, guarded: it is loaded when first needed, and whatever it throws becomes a reason."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from stackmerge.hazard import languages
from stackmerge.hazard.patterns import holds
from stackmerge.hazard.view import Unreadable, refuse_deep

if TYPE_CHECKING:
    from ast_grep_py import SgNode

T = TypeVar("T")
_CLASS = re.compile(r"^class\s", re.MULTILINE)
_INNER_CLASS = re.compile(r"^[ \t]+class\s", re.MULTILINE)
_OUTER_LINE = re.compile(r"^[^\s#)\]}]", re.MULTILINE)
_NAME_FIELDS = ("name", "declarator")


@dataclass(frozen=True)
class Region:
    """A part of a file that stands for itself: a class, or the whole; ``first`` is its first line, from 1."""

    first: int
    text: str


def guarded(work: Callable[[], T]) -> T:
    """The result of ``work``. Raises Unreadable for anything it throws: a panic of ast-grep is no Exception."""
    try:
        return work()
    except (KeyboardInterrupt, SystemExit, Unreadable):
        raise
    except BaseException as error:
        first = str(error).strip().split("\n")[0]
        raise Unreadable(f"ast-grep fails on it: {first or type(error).__name__}") from error


@lru_cache(maxsize=64)
def root(text: str, language: str) -> SgNode:
    """The root node of a text. Raises Unreadable."""
    if language not in languages.AST_GREP:
        raise Unreadable(f"the language {language!r} is not known")
    refuse_deep(text)
    from ast_grep_py import SgRoot

    return guarded(lambda: SgRoot(text, language).root())


def regions(text: str, language: str, scope: str, words: frozenset[str] | None) -> list[Region]:
    """The parts of ``text`` that must be parsed: of a Python file the outermost classes that hold ``words``."""
    if language != "python" or scope != "class_definition" or words is None or _INNER_CLASS.search(text):
        return [Region(1, text)]
    found = []
    for start in _CLASS.finditer(text):
        after = text.find("\n", start.end()) + 1 or len(text)
        end = _OUTER_LINE.search(text, after)
        part = text[start.start() : end.start() if end else len(text)]
        if part.count('"""') % 2 or part.count("'''") % 2:
            return [Region(1, text)]  # a string reaches to the left margin
        if holds(part.encode(), words):
            found.append(Region(text.count("\n", 0, start.start()) + 1, part))
    return found


def find_all(node: SgNode, rule: Any) -> list[SgNode]:
    """Every match of an ast-grep rule below a node. Raises Unreadable where the rule is wrong."""
    config: Any = {"rule": dict(rule)}
    return guarded(lambda: list(node.find_all(config)))


def matches(node: SgNode, rule: Any) -> bool:
    return guarded(lambda: bool(node.matches(**rule)))


def name_of(node: SgNode) -> str:
    """The name that a definition gives; empty where it has none."""
    for field in _NAME_FIELDS:
        inner = node.field(field)
        while inner is not None and inner.field("declarator") is not None:
            inner = inner.field("declarator")
        if inner is not None:
            return inner.text()
    kind = node.field("type")
    return kind.text() if kind is not None else ""


def definitions(node: SgNode, kinds: tuple[str, ...]) -> Iterator[SgNode]:
    """Every definition of some kinds below a node, itself included, in order."""
    if kinds:
        yield from find_all(node, {"any": [{"kind": kind} for kind in kinds]})


def python_problem(text: str) -> str | None:
    """Why ``text`` is not Python. A tree without errors is not enough: tree-sitter takes what Python refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<merged>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"it does not parse as Python: {error}"
    return None
