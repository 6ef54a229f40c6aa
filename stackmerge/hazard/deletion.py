"""Delete a symbol from a Python file: every statement that only serves it, and nothing else.

Where a statement does more than serve the symbol, deleting is no longer safe and a person must look.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from stackmerge.errors import StackmergeError
from stackmerge.hazard.parse import python_problem


@dataclass
class _Cut:
    """What to change: whole lines to delete (from 1), and lines that become ``pass``."""

    lines: set[int] = field(default_factory=set)
    passes: dict[int, str] = field(default_factory=dict)


def delete_symbol(text: str, symbol: str, *, scope: str = "", without: str = "") -> str:
    """``text`` without ``symbol``, a name or ``self.NAME``; with ``scope`` only in that class.

    ``without`` is a version that does not have the symbol: a comment right above a deleted statement goes too
    where that version does not have it. Raises StackmergeError where the symbol cannot be taken out alone.
    """
    if python_problem(text):
        raise StackmergeError(f"cannot delete {symbol}: {python_problem(text)}", "edit the file by hand")
    module = ast.parse(text)
    lines = text.split("\n")
    cut = _Cut()
    for body in _roots(module, scope):
        _Deleter(symbol, lines, set(map(str.strip, without.split("\n"))), cut).prune(body)
    found = "\n".join(_apply(lines, cut))
    problem = python_problem(found)
    if problem:
        raise StackmergeError(f"without {symbol}, {problem}", "edit the file by hand")
    return found


def _roots(module: ast.Module, scope: str) -> Iterator[list[ast.stmt]]:
    if not scope:
        yield module.body
        return
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef) and node.name == scope:
            yield node.body


class _Deleter:
    def __init__(self, symbol: str, lines: list[str], kept_comments: set[str], cut: _Cut) -> None:
        self._symbol = symbol
        self._lines = lines
        self._kept = kept_comments if "".join(kept_comments) else None
        self._cut = cut

    def prune(self, body: list[ast.stmt]) -> bool:
        """Delete from a list of statements; True when nothing is left of it."""
        gone = [self._prune_one(statement) for statement in body]
        return all(gone)

    def _prune_one(self, statement: ast.stmt) -> bool:
        if not self._mentioned(statement):
            return False
        if self._serves(statement):
            self._cut_out(statement)
            return True
        header = [
            n for n in ast.iter_child_nodes(statement) if not isinstance(n, ast.stmt | ast.ExceptHandler)
        ]
        if not self._bodies(statement) or any(self._mentioned(n) for n in header):
            self._refuse(statement)
        return self._prune_inner(statement)

    def _bodies(self, statement: ast.AST) -> list[list[ast.stmt]]:
        found = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        handlers = getattr(statement, "handlers", [])
        found += [handler.body for handler in handlers]
        return [body for body in found if isinstance(body, list) and body]

    def _prune_inner(self, statement: ast.stmt) -> bool:
        bodies = self._bodies(statement)
        empty = [body for body in bodies if self.prune(body)]
        if len(empty) == len(bodies) == 1 and isinstance(statement, ast.If) and _is_pure(statement.test):
            self._cut_out(statement)
            return True
        for body in empty:
            self._cut.passes[body[0].lineno] = self._lines[body[0].lineno - 1][: body[0].col_offset]
        return False

    def _mentioned(self, node: ast.AST) -> bool:
        return any(self._is_symbol(inner) for inner in ast.walk(node))

    def _is_symbol(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node) == self._symbol

    def _serves(self, statement: ast.stmt) -> bool:
        """Is the statement there for the symbol alone: set, deleted, or one of its methods called?"""
        if isinstance(statement, ast.Assign | ast.Delete):
            return all(self._is_symbol(target) for target in statement.targets)
        if isinstance(statement, ast.AnnAssign | ast.AugAssign):
            return self._is_symbol(statement.target)
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return False
        function: ast.AST = statement.value.func
        while isinstance(function, ast.Attribute) and not self._is_symbol(function):
            function = function.value
        return function is not statement.value.func and self._is_symbol(function)

    def _cut_out(self, statement: ast.stmt) -> None:
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        before = self._lines[first - 1].encode()[: statement.col_offset].strip()
        after = self._lines[last - 1].encode()[statement.end_col_offset or 0 :].strip()
        if before or (after and not after.startswith(b"#")):
            self._refuse(statement)
        while self._comment_goes(first - 1, statement.col_offset):
            first -= 1
        self._cut.lines |= set(range(first, last + 1))

    def _comment_goes(self, line: int, column: int) -> bool:
        text = self._lines[line - 1] if line else ""
        if not text.strip().startswith("#") or len(text) - len(text.lstrip()) != column:
            return False
        if self._kept is None:
            return self._symbol.rpartition(".")[2] in text
        return text.strip() not in self._kept

    def _refuse(self, statement: ast.stmt) -> None:
        raise StackmergeError(
            f"cannot delete {self._symbol}: line {statement.lineno} does more than serve it",
            "edit the file by hand",
        )


def _is_pure(test: ast.expr) -> bool:
    """Can the condition be left out? Not where asking it does something."""
    return not any(isinstance(n, ast.Call | ast.NamedExpr | ast.Await | ast.Yield) for n in ast.walk(test))


def _apply(lines: list[str], cut: _Cut) -> Iterator[str]:
    """The lines that are left; where a cut leaves two blank lines that were none before, one goes."""
    blank_before, cutting = False, False
    for number, line in enumerate(lines, 1):
        if number in cut.passes and number in cut.lines:
            yield f"{cut.passes[number]}pass"
            cutting = False
        elif number in cut.lines:
            cutting = True
        elif cutting and blank_before and not line.strip():
            cutting = False
        else:
            cutting = False
            blank_before = not line.strip()
            yield line
