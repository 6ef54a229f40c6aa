"""A default or constant that one side changed has another value in the result than that side gave it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from stackmerge.hazard import languages
from stackmerge.hazard.checks import python
from stackmerge.hazard.checks.seen import NotChecked, Seen
from stackmerge.hazard.view import FileView, Unreadable, View

_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\s/][^\n]*)", re.MULTILINE)
_SETTING = re.compile(r"^([ \t]*[\w.\"'-]+)[ \t]*[:=][ \t]*([^\s#{\[|>][^\n#]*)", re.MULTILINE)
_SETTINGS = (".yaml", ".yml", ".toml", ".ini", ".cfg", ".properties", ".env", ".json")
_CODE = re.compile(r"\d|True|False|None|['\"]|[A-Z_]{3,}")


def check(view: View, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Seen | NotChecked]:
    """Values in a merged file that differ from what the one side that changed them says."""
    del deliberate
    if view.before:
        return
    for file in view.files():
        kind = _kind(file.path)
        if not kind or not file.both or file.merged is None:
            continue
        try:
            if _may_differ(file):
                yield from _changed(file, kind)
        except Unreadable as error:
            yield NotChecked(file.path, str(error))


def _kind(path: str) -> str:
    language = languages.of(path)
    if language in ("python", "c", "cpp"):
        return language
    return "settings" if PurePosixPath(path).suffix in _SETTINGS else ""


def _changed(file: FileView, kind: str) -> Iterator[Seen]:
    known = {side: _values(file.text(side), kind) for side in ("base", "ours", "theirs", "merged")}
    if any(values is None for values in known.values()):
        return
    base, ours, theirs, merged = (known[s] or {} for s in ("base", "ours", "theirs", "merged"))
    for name, (value, line) in merged.items():
        if name not in base:
            continue
        was = base[name][0]
        given = {
            v[0]: s for s, v in (("ours", ours.get(name)), ("theirs", theirs.get(name))) if v and v[0] != was
        }
        if given and value not in given and (name in ours and name in theirs):
            what = ", ".join(f"{side} says {new}" for new, side in given.items())
            text = file.lines("merged")[line - 1].strip()
            yield Seen(file.path, f"{name} is {value} here; {what}, and it was {was}", ((line, text),))


def _may_differ(file: FileView) -> bool:
    """Is a line with a value, which a side wrote, not in the merged file? A clean merge keeps them all."""
    if file.is_plain:
        return False
    merged = set(file.lines("merged"))
    added = (text for side in ("ours", "theirs") for _, text in file.change("base", side).added)
    return any(text not in merged and _CODE.search(text) for text in added)


def _values(text: str, kind: str) -> dict[str, tuple[str, int]] | None:
    """Names with their literal values and lines. Names that are given twice say nothing."""
    if kind == "python":
        module = python.tree(text)
        return None if module is None else dict(_python_values(module))
    pattern = _DEFINE if kind in ("c", "cpp") else _SETTING
    found: dict[str, tuple[str, int]] = {}
    twice = set()
    for match in pattern.finditer(text):
        twice |= {match[1]} & found.keys()
        found[match[1]] = (match[2].strip().rstrip(","), text.count("\n", 0, match.start()) + 1)
    return {name: value for name, value in found.items() if name not in twice}


def _python_values(module: ast.Module) -> Iterator[tuple[str, tuple[str, int]]]:
    for scope, body in python.bodies(module):
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from _defaults(f"{scope}.{node.name}", node)
            target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            target = node.target if isinstance(node, ast.AnnAssign) else target
            value = getattr(node, "value", None)
            if isinstance(target, ast.Name) and value is not None and _is_literal(value):
                yield f"{scope}.{target.id}".lstrip("."), (ast.unparse(value), node.lineno)


def _defaults(
    scope: str, node: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[tuple[str, tuple[str, int]]]:
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    pairs = [*zip(reversed(positional), reversed(spec.defaults), strict=False)]
    pairs += [(a, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None]
    for argument, default in pairs:
        if _is_literal(default):
            yield f"{scope}({argument.arg})".lstrip("."), (ast.unparse(default), argument.lineno)


def _is_literal(node: ast.AST) -> bool:
    """A number, a text or the like, or a minus before one."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)
