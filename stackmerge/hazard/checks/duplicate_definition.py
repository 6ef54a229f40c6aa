"""Both sides add the same function, class or key, and the result holds both."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from stackmerge.hazard import languages
from stackmerge.hazard.checks import keys, outline, python
from stackmerge.hazard.checks.seen import NotChecked, Seen, combined
from stackmerge.hazard.view import FileView, Unreadable, View

_REBINDS = ("overload", "setter", "getter", "deleter", "register", "dispatch")
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)
_ONE_WORD = re.compile(r"""\s*(\w+|".*"|'.*')\s*""")


def check(view: View, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Seen | NotChecked]:
    """Definitions that the merged file has more often than either side."""
    del deliberate
    for file in combined(view):
        language = languages.of(file.path)
        if isinstance(file, NotChecked):
            if languages.of(file.path) in outline.KNOWN or keys.is_known(file.path):
                yield file
            continue
        if keys.is_known(file.path):
            yield from _keys(file)
        elif language and file.merged and outline.in_blob(view, file.merged.oid, language).twice:
            yield from _definitions(file, language)


def _definitions(file: FileView, language: str) -> Iterator[Seen]:
    counts = {side: Counter(_names(file.text(side), language)) for side in ("ours", "theirs", "merged")}
    more = {n for n, c in counts["merged"].items() if c > max(counts["ours"][n], counts["theirs"][n])}
    if not more:
        return
    if language == "python":
        yield from _python(file, more)
    elif language in ("c", "cpp"):
        yield from _c(
            file, {name: max(counts["ours"][name], counts["theirs"][name]) for name in more}, language
        )
    else:
        text = file.text("merged")
        for name in sorted(more):
            yield Seen(file.path, f"{name} is defined more than once", _lines(text, language, name))


def _names(text: str, language: str) -> list[str]:
    return [name for name, _ in outline.definitions(text, language)]


def _lines(text: str, language: str, name: str) -> tuple[tuple[int, str], ...]:
    lines = text.split("\n")
    starts = [offset for found, offset in outline.definitions(text, language) if found == name]
    numbers = [text.count("\n", 0, offset) + 1 for offset in starts]
    return tuple((n, lines[n - 1].strip()) for n in numbers)


# -- Python


def _python(file: FileView, names: set[str]) -> Iterator[Seen]:
    modules = {side: python.tree(file.text(side)) for side in ("ours", "theirs", "merged")}
    if modules["merged"] is None or modules["ours"] is None or modules["theirs"] is None:
        return
    known = {side: _groups(module, names) for side, module in modules.items() if module}
    for (scope, name), group in known["merged"].items():
        before = max(len(known[side].get((scope, name), ())) for side in ("ours", "theirs"))
        if len(group) < 2 or len(group) <= before or _is_used(modules["merged"], group):
            continue
        bound_again = any(
            word in ast.dump(d) for node in group for d in node.decorator_list for word in _REBINDS
        )
        if not bound_again:
            lines = file.lines("merged")
            where = tuple((node.lineno, lines[node.lineno - 1].strip()) for node in group)
            what = f"{f'{scope}.{name}'.lstrip('.')} is defined {len(group)} times; only the last counts"
            plain = not any(node.decorator_list for node in group)
            yield Seen(file.path, what, where, conclusive=plain)


def _groups(module: ast.Module, names: set[str]) -> dict[tuple[str, str], list[python.Definition]]:
    """The definitions of each name in one list of statements, where no condition chooses between them."""
    found: dict[tuple[str, str], list[python.Definition]] = {}
    for scope, body in python.bodies(module):
        here: dict[str, list[python.Definition]] = {}
        for node in body:
            if isinstance(node, python.Definition) and node.name in names and node.name != "_":
                here.setdefault(node.name, []).append(node)
        for name, group in here.items():
            if len(group) > len(found.get((scope, name), ())):
                found[scope, name] = group
    return found


def _is_used(module: ast.Module, group: list[python.Definition]) -> bool:
    """Is the name used between its definitions, or to make a later one? Then the earlier has done its work."""
    name, first, last = group[0].name, group[0].end_lineno or 0, group[-1].lineno
    headers = [node for later in group[1:] for part in _header(later) for node in ast.walk(part)]
    between = (node for node in ast.walk(module) if isinstance(node, ast.Name) and first < node.lineno < last)
    return any(isinstance(node, ast.Name) and node.id == name for node in (*headers, *between))


def _header(node: python.Definition) -> Iterator[ast.expr]:
    """What is evaluated before a definition binds its name: decorators, bases, defaults."""
    yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        yield from (*node.bases, *(keyword.value for keyword in node.keywords))
    else:
        yield from (default for default in (*node.args.defaults, *node.args.kw_defaults) if default)


# -- C


def _c(file: FileView, names: Mapping[str, int], language: str) -> Iterator[Seen]:
    """Two bodies for one name do not compile, unless the preprocessor chooses between them.

    ``names`` have the number of their definitions in the parent that has more. Where that has two, or the name is in
    capitals, it may be a macro that makes something else of each.
    """
    text = file.text("merged")
    is_header = PurePosixPath(file.path).suffix.startswith(".h")
    for name, before in sorted(names.items()):
        starts = [offset for found, offset in outline.definitions(text, language) if found == name]
        if len(starts) < 2 or any(text[offset:].lstrip().startswith("#") for offset in starts):
            continue
        if is_header or language == "cpp" or any(_is_conditional(text[:offset]) for offset in starts):
            continue
        heads = [" ".join(text[offset:].partition("{")[0].split()) for offset in starts]
        if len(set(heads)) < len(heads) or not all(_calls_macro(head, name) for head in heads):
            what, where = f"{name} is defined {len(starts)} times", _lines(text, language, name)
            yield Seen(file.path, what, where, conclusive=before < 2 and not name.isupper())


def _calls_macro(head: str, name: str) -> bool:
    """Is what stands before a body a macro's call? A parameter of a function has a type, and is more than one word."""
    given = head.partition(name)[2].strip(" ()").split(",")
    return any(_ONE_WORD.fullmatch(word) and word.strip() != "void" for word in given)


def _is_conditional(before: str) -> bool:
    words = [m[1] for m in _CONDITION.finditer(before)]
    return words.count("if") > words.count("endif")


# -- keys


def _keys(file: FileView) -> Iterator[Seen | NotChecked]:
    """Keys that a mapping of the merged file holds twice, and neither side's."""
    suffix = PurePosixPath(file.path).suffix
    try:
        found = {side: keys.twice(file.text(side), suffix) for side in ("ours", "theirs", "merged")}
    except Unreadable as error:
        yield NotChecked(file.path, str(error))
        return
    except (ValueError, RecursionError):
        return  # it does not parse, on some side: what it holds nobody knows
    for key, line in found["merged"].items():
        if key not in found["ours"] and key not in found["theirs"]:
            lines = file.lines("merged")
            where = ((line, lines[line - 1].strip()),) if line else ()
            yield Seen(file.path, f"the key {key} is given twice; only one counts", where, conclusive=True)
