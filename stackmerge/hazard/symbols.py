"""Which functions and classes do changed lines belong to? Of a conflict's hunks, and of each side's clean ones.

A file with conflict markers does not parse. Three whole files can be made of it, one a side, and each parses;
a hunk's lines are then looked up in the symbols of its side.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from stackmerge.hazard import languages, parse
from stackmerge.hazard.view import FileView, Unreadable

_MARKER = re.compile(r"^(<{7,}|\|{7,}|={7,}|>{7,})( .*)?$")


@dataclass(frozen=True)
class Symbol:
    """A function or class by its dotted name, with its first and last line, from 1."""

    name: str
    first: int
    last: int


@dataclass(frozen=True)
class Views:
    """Three whole files made of one with markers, and the lines (first, last) of each hunk in each of them.

    The base is empty where the markers do not show it.
    """

    texts: dict[str, str]
    hunks: dict[str, tuple[tuple[int, int], ...]]


def of_text(text: str, language: str, scope: str = "", words: frozenset[str] | None = None) -> list[Symbol]:
    """The symbols of a file, outer ones first. Raises Unreadable."""
    kinds = (*languages.CLASSES.get(language, ()), *languages.FUNCTIONS.get(language, ()))
    found: list[Symbol] = []
    for region in parse.regions(text, language, scope, words):
        for node in parse.definitions(parse.root(region.text, language), kinds):
            span = node.range()
            first, last = region.first + span.start.line, region.first + span.end.line
            outer = [s for s in found if s.first <= first and last <= s.last]
            prefix = f"{outer[-1].name}." if outer else ""
            found.append(Symbol(prefix + parse.name_of(node), first, last))
    return found


def touched(symbols: Iterable[Symbol], lines: Iterable[int]) -> set[str]:
    """The names of the symbols that hold any of the lines."""
    numbers = sorted(lines)
    return {s.name for s in symbols if any(s.first <= n <= s.last for n in numbers)}


def changed(file: FileView, side: str, language: str, scope: str, words: frozenset[str] | None) -> set[str]:
    """The symbols in which a side removed or added lines. Raises Unreadable."""
    change = file.change("base", side)
    found: set[str] = set()
    for where, lines in (("base", change.removed), (side, change.added)):
        if lines:
            symbols = of_text(file.text(where), language, scope, words)
            found |= touched(symbols, (n for n, _ in lines))
    return found


def conflict_views(text: str) -> Views:
    """The three files in one with markers. Raises Unreadable where the markers do not match up."""
    order = ("ours", "base", "theirs")
    lines: dict[str, list[str]] = {side: [] for side in order}
    hunks: dict[str, list[tuple[int, int]]] = {side: [] for side in order}
    starts: dict[str, int] = {}
    part = ""
    for line in text.split("\n"):
        marker = _MARKER.match(line)
        step = (part, marker[1][0]) if marker else ("", "")
        if step == ("", "<"):
            part, starts = "ours", {side: len(lines[side]) for side in order}
        elif step in (("ours", "|"), ("ours", "="), ("base", "=")):
            part = "base" if step[1] == "|" else "theirs"
        elif step == ("theirs", ">"):
            part = ""
            for side in order:
                hunks[side].append((starts[side] + 1, len(lines[side])))
        else:
            for side in [part] if part else order:
                lines[side].append(line)
    if part:
        raise Unreadable("its conflict markers do not match up")
    return Views({s: "\n".join(lines[s]) for s in order}, {s: tuple(hunks[s]) for s in order})


def of_conflict(text: str, language: str) -> list[str]:
    """The innermost symbols that the hunks of a file with conflict markers belong to, sorted. Raises Unreadable."""
    views = conflict_views(text)
    found: set[str] = set()
    for side in ("ours", "theirs"):
        symbols = of_text(views.texts[side], language)
        inner = {n for first, last in views.hunks[side] for n in range(first, last + 1)}
        found |= touched(symbols, inner)
    return sorted(name for name in found if not any(other.startswith(f"{name}.") for other in found))
