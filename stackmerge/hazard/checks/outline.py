"""What a file defines and mentions, by regular expressions: fast, and exact enough to ask a parser next."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from stackmerge.hazard import languages
from stackmerge.hazard.memory import memory_of
from stackmerge.hazard.view import MAX_BYTES, Changed, Unreadable, View
from stackmerge.rawtree import TREE_MODE, Entry

# Every pattern begins with a line end, which is looked for many times faster than a line's start: search "\n" + text.
_C_FUNCTION = (
    r"(?!(?:typedef|return|else|if|for|while|switch|case|goto|do)\b)[A-Za-z_][\w \t*]*?[ \t*]"
    r"(\w+)[ \t]*\((?=[^;{}#]*\)\s*\{)"
)
_C_MACRO = r"[ \t]*#[ \t]*define[ \t]+(\w+)"
_SCRIPT = (
    r"\n[ \t]*(?:export[ \t]+(?:default[ \t]+)?)?(?:async[ \t]+)?(?:abstract[ \t]+)?"
    r"(?:function\*?|class|interface)[ \t]+(\w+)"
)
DEFINITIONS = {
    "python": re.compile(r"\n[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w+)"),
    "c": re.compile(rf"\n(?:{_C_FUNCTION}|{_C_MACRO})"),
    "cpp": re.compile(rf"\n(?:{_C_FUNCTION}|{_C_MACRO})"),
    "go": re.compile(r"\n(?:func[ \t]+(?:\([^)]*\)[ \t]*)?|type[ \t]+)(\w+)"),
    "rust": re.compile(
        r"\n[ \t]*(?:pub(?:\([^)]*\))?[ \t]+)?(?:(?:async|const|unsafe)[ \t]+)*"
        r"(?:fn|struct|enum|trait)[ \t]+(\w+)"
    ),
    "javascript": re.compile(_SCRIPT),
    "typescript": re.compile(_SCRIPT),
    "tsx": re.compile(_SCRIPT),
}
C = ("c", "cpp")
DECLARED = re.compile(
    r"\n(?!(?:typedef|return|else|if|for|while|switch|case|goto|do)\b)[A-Za-z_][\w \t*]*?[ \t*](\w+)[ \t]*"
    r"\(((?:[^;{}()#]|\([^;{}()]*\))*)\)[^;{}()=]*(?:\([^;{}()]*\)[^;{}()=]*)*[;{]"
)
Declared = dict[str, tuple[str, ...]]
KNOWN = tuple(DEFINITIONS)
_NOISE = {
    "python": re.compile(r"""(?:[rbuf]{0,2})(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\#.*""", re.IGNORECASE),
}
_C_NOISE = re.compile(r"""//.*|/\*.*?(?:\*/|$)|^\s*\*.*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")
CALL = re.compile(r"\b(\w+)\s*\(")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_MOST_FILES = 20_000


@lru_cache(maxsize=16)
def definitions(text: str, language: str) -> tuple[tuple[str, int], ...]:
    """The names that a text defines, each with the offset of its definition."""
    return _definitions(text, language)


def _definitions(text: str, language: str) -> tuple[tuple[str, int], ...]:
    pattern = DEFINITIONS.get(language)
    if pattern is None:
        return ()
    return tuple((next(g for g in m.groups() if g), m.start()) for m in pattern.finditer("\n" + text))


def defined(text: str, language: str) -> set[str]:
    return {name for name, _ in definitions(text, language)}


def code(line: str, language: str) -> str:
    """A line without its strings and comments."""
    return _NOISE.get(language, _C_NOISE).sub(" ", line)


def identifiers(lines: Iterable[tuple[int, str]], language: str) -> set[str]:
    """Every name that the code of some lines mentions."""
    return {name for _, text in lines for name in _IDENTIFIER.findall(code(text, language))}


def called(view: View, known: Collection[str]) -> set[str]:
    """The names that the lines which theirs adds call, in files of these languages."""
    found: set[str] = set()
    for change in view.changed_in("theirs", known):
        try:
            added = view.file(change.path).change("base", "theirs").added
        except Unreadable:
            continue
        found.update(name for _, line in added for name in CALL.findall(line))
    return found


class Outline(NamedTuple):
    """What a blob defines, and what more than once."""

    defined: frozenset[str]
    twice: frozenset[str]


def in_blob(view: View, oid: str, language: str) -> Outline:
    """The outline of a blob in a language."""
    return memory_of(view.objects).find((Outline, oid, language), lambda: _outline(view, oid, language))


def _outline(view: View, oid: str, language: str) -> Outline:
    text = memory_of(view.objects).blob(view.objects, oid).decode("utf-8-sig", "replace")
    names = Counter(sys.intern(name) for name, _ in _definitions(text, language))
    return Outline(frozenset(names), frozenset(name for name, count in names.items() if count > 1))


def resigned(view: View, change: Changed) -> frozenset[str]:
    """The Python functions, by the names that they are called by, whose parameters are written otherwise or gone."""
    base, now = change.base, change.now
    if base is None or now is None or not (base.is_file and now.is_file):
        return frozenset()

    def look() -> frozenset[str]:
        old, new = (_signatures_in_blob(view, entry.oid) for entry in (base, now))
        return frozenset(name for name, _ in old - new)

    return memory_of(view.objects).find(("resigned", base.oid, now.oid), look)


def may_mention(view: View, entry: Entry | None, words: Collection[bytes]) -> bool:
    """Does a file hold one of some words? Asked before it is looked into; one that is too large may."""
    if entry is None or not entry.is_file:
        return False
    data = memory_of(view.objects).blob(view.objects, entry.oid)
    return len(data) > MAX_BYTES or any(word in data for word in words)


def declared(text: str) -> Declared:
    """The parameter lists of each function that a C file declares or defines at its left margin."""
    found: Declared = {}
    for match in DECLARED.finditer("\n" + text):
        found[match[1]] = (*found.get(match[1], ()), match[2])
    return found


_SIGNATURE = re.compile(
    r"^[ \t]*(?:class[ \t]+(\w+)|(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*(\(.*?:)[ \t]*(?:#[^\n]*)?$)",
    re.MULTILINE | re.DOTALL,
)


def _signatures_in_blob(view: View, oid: str) -> frozenset[tuple[str, str]]:
    """Each function of a Python blob by the name that it is called by, with the text of its parameters."""
    return memory_of(view.objects).find(("signatures", oid), lambda: _signatures(view, oid))


def _signatures(view: View, oid: str) -> frozenset[tuple[str, str]]:
    data = memory_of(view.objects).blob(view.objects, oid)
    found, owner = set(), ""
    for match in _SIGNATURE.finditer(data.decode("utf-8-sig", "replace")):
        if match[1]:
            owner = match[1]
        else:
            found.add((owner if match[2] == "__init__" else match[2], "".join(match[3].split())))
    return frozenset(found)


def defined_elsewhere(
    view: View, name: str, language: str, side: str, apart: Collection[str] = ()
) -> bool | None:
    """Does any file of the result but those in ``apart`` define ``name``? None where there are too many.

    Before the merge the result is taken to be as on ``side``.
    """
    seen = 0
    for path, oid in _files(view, view.sides.merged or getattr(view.sides, side), ""):
        if path in apart or languages.of(path) != language:
            continue
        seen += 1
        if seen > _MOST_FILES:
            return None
        if name in in_blob(view, oid, language).defined:
            return True
    return False


def _files(view: View, tree: str, prefix: str) -> Iterator[tuple[str, str]]:
    for raw, entry in view.objects.tree(tree).items():
        path = prefix + raw.decode("utf-8", "surrogateescape")
        if entry.mode == TREE_MODE:
            yield from _files(view, entry.oid, f"{path}/")
        elif entry.is_file:
            yield path, entry.oid
