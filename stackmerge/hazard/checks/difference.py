"""What a side no longer defines in a file, and what it declares otherwise.

Of a C file only the pieces are looked into that one version alone has. A piece ends where a brace stands at the left
margin. What `outline` looks for in C holds no such brace, so a file defines and declares what its pieces do; and two
versions of a file share most of them.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable
from typing import NamedTuple

from stackmerge.hazard.checks import outline
from stackmerge.hazard.memory import memory_of
from stackmerge.hazard.view import Changed, View

_END = b"\n}"
_NONE: frozenset[str] = frozenset()


class Differing(NamedTuple):
    """The names that a version no longer defines, and those whose parameter lists it writes otherwise."""

    removed: frozenset[str]
    redeclared: frozenset[str]


def removed(view: View, change: Changed) -> frozenset[str]:
    """What a side no longer defines in a file."""
    base, now, language = change.base, change.now, change.language
    if base is None or not base.is_file:
        return _NONE
    if now is None or not now.is_file:
        return outline.in_blob(view, base.oid, language).defined
    if language in outline.C:
        return _of_change(view, base.oid, now.oid, language).removed

    def look() -> frozenset[str]:
        old, new = (outline.in_blob(view, entry.oid, language) for entry in (base, now))
        return old.defined - new.defined

    return memory_of(view.objects).find(("removed", base.oid, now.oid, language), look)


def redeclared(view: View, change: Changed) -> frozenset[str]:
    """The functions of a C file whose parameter lists a change writes otherwise.

    Those with a further declaration that stays are among them or not.
    """
    base, now = change.base, change.now
    if base is None or now is None or not (base.is_file and now.is_file):
        return _NONE
    return _of_change(view, base.oid, now.oid, change.language).redeclared


def _of_change(view: View, old: str, new: str, language: str) -> Differing:
    memory = memory_of(view.objects)

    def look() -> Differing:
        return differing(memory.blob(view.objects, old), memory.blob(view.objects, new), language)

    return memory.find((Differing, old, new, language), look)


def differing(old: bytes, new: bytes, language: str) -> Differing:
    """Compare two versions of a C file."""
    before, after = ((b"\n" + data.removeprefix(BOM_UTF8)).split(_END) for data in (old, new))
    in_old, in_new = set(before), set(after)
    gone = [_text(piece) for piece in before if piece not in in_new]
    come = [_text(piece) for piece in after if piece not in in_old]
    removed = _defined(gone, language) - _defined(come, language)
    if removed:
        words = [name.encode() for name in removed]
        kept = (_text(p) for p in in_old & in_new if any(word in p for word in words))
        removed -= _defined(kept, language)
    was, now = _declared(gone), _declared(come)
    return Differing(
        frozenset(removed), frozenset(name for name in was.keys() & now.keys() if was[name] != now[name])
    )


def _text(piece: bytes) -> str:
    return piece.decode("utf-8", "replace")


def _defined(pieces: Iterable[str], language: str) -> set[str]:
    pattern = outline.DEFINITIONS[language]
    return {name for piece in pieces for match in pattern.finditer(piece) for name in match.groups() if name}


def _declared(pieces: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for piece in pieces:
        for match in outline.DECLARED.finditer(piece):
            found.setdefault(match[1], []).append(match[2])
    return found
