"""One side removes or renames a symbol; lines that the other side adds use it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from stackmerge.hazard import languages
from stackmerge.hazard.checks import difference, outline
from stackmerge.hazard.checks.seen import NotChecked, Seen, in_result
from stackmerge.hazard.view import FileView, Unreadable, View

_SHORT = 3
_MANY = 10


@dataclass(frozen=True)
class Removed:
    """A definition that a side took out of a file. ``method``: it stood inside a class."""

    path: str
    name: str
    method: bool


def check(view: View, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Seen | NotChecked]:
    """References to what is no longer there."""
    del deliberate
    if any(view.changed_in("theirs", outline.KNOWN)):
        yield from _direction(view, "ours", "theirs", _used(view, "theirs"))
        yield from _direction(view, "theirs", "ours", None)


def _direction(
    view: View, remover: str, adder: str, used: dict[str, set[str]] | None
) -> Iterator[Seen | NotChecked]:
    """With ``used``, only names that lines of the adder mention are asked about."""
    gone: dict[str, list[Removed]] = {}
    for change in view.changed_in(remover, outline.KNOWN):
        names = difference.removed(view, change)
        for name in sorted(names if used is None else names & used.get(change.language, set())):
            if len(name) > _SHORT and not name.startswith("__"):
                method = _is_method(view.file(change.path), name, change.language)
                gone.setdefault(change.language, []).append(Removed(change.path, name, method))
    words = {language: [one.name.encode() for one in found] for language, found in gone.items()}
    for change in view.changed_in(adder, tuple(gone)):
        language = change.language
        if outline.may_mention(view, change.now, words[language]):
            yield from _references(view, view.file(change.path), adder, remover, language, gone[language])


def _used(view: View, side: str) -> dict[str, set[str]]:
    """The names that a side's added lines mention, by language."""
    found: dict[str, set[str]] = {}
    for change in view.changed_in(side, outline.KNOWN):
        try:
            added = view.file(change.path).change("base", side).added
        except Unreadable:
            continue
        found.setdefault(change.language, set()).update(outline.identifiers(added, change.language))
    return found


def _is_method(file: FileView, name: str, language: str) -> bool:
    """Was it defined inside something?"""
    try:
        text = file.text("base")
    except Unreadable:
        return False
    return language == "python" and text[_offset(text, name, language)] in " \t"


def _offset(text: str, name: str, language: str) -> int:
    return next(offset for found, offset in outline.definitions(text, language) if found == name)


def _references(
    view: View, file: FileView, adder: str, remover: str, language: str, gone: list[Removed]
) -> Iterator[Seen | NotChecked]:
    try:
        data = file.data(adder)
        here = [one for one in gone if one.name.encode() in data]
        if not here:
            return
        added = file.change("base", adder).added
        text = file.text("merged") if file.has_merged and file.merged else file.text(adder)
    except Unreadable as error:
        yield NotChecked(file.path, str(error))
        return
    for one in here:
        lines = in_result(file, [(n, line) for n, line in added if _refers(line, one, language)])
        if lines and _reaches(one, file, text, language) and not _is_defined(view, one, file, text, remover):
            what = f"{one.name} was removed from {one.path} by {remover}; lines that {adder} adds use it"
            yield Seen(file.path, what, lines[:_MANY])


def _refers(line: str, one: Removed, language: str) -> bool:
    name = re.escape(one.name)
    bare = outline.code(line, language)
    if one.name in outline.defined(line, language):
        return False
    if one.method:
        return re.search(rf"\.\s*{name}\s*\(", bare) is not None
    if language == "python":
        return re.search(rf"(?<![.\w]){name}\b(?!\s*=[^=])|\w\.{name}\b", bare) is not None
    return re.search(rf"(?<![.\w>]){name}\s*\(", bare) is not None


def _reaches(one: Removed, file: FileView, text: str, language: str) -> bool:
    """Can a reference in ``file`` mean the removed symbol at all?"""
    if file.path == one.path or one.method or language != "python":
        return True
    place = PurePosixPath(one.path)
    module = re.escape(place.parent.name if place.stem == "__init__" else place.stem)
    name = re.escape(one.name)
    imported = rf"from\s+[\w.]*\b{module}\s+import\s+(?:\([^)]*|[^\n]*)\b{name}\b"
    return re.search(rf"{imported}|\b{module}\.{name}\b", text) is not None


def _is_defined(view: View, one: Removed, file: FileView, text: str, remover: str) -> bool:
    """Is there something else that the reference can mean?"""
    language = languages.of(file.path)
    name = re.escape(one.name)
    if language == "python" and not one.method:
        if file.path != one.path:
            return False
        bound = rf"^\s*(?:from\s[^\n]*)?import\s[^\n]*\b{name}\b|^\s*{name}\s*[:=]|\b(?:as|for)\s+{name}\b"
        local = rf"\bdef\s+\w+\([^)]*\b{name}\b|[(,]\s*{name}\s*=|^\s+{name},?\s*$|\bdef\s+{name}\b"
        return re.search(rf"{bound}|{local}", text, re.MULTILINE) is not None
    if file.path != one.path and one.name in outline.defined(text, language):
        return True
    return outline.defined_elsewhere(view, one.name, language, remover) is not False
