"""What became of each line of a conflict: kept or lost of both sides, and where those of the answer come from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from stackmerge.report.hunks import Hunk

KEPT, LOST, OURS, THEIRS, BOTH, NEW, PLAIN = "kept", "lost", "ours", "theirs", "both", "new", ""


@dataclass(frozen=True)
class Line:
    """One line of a column with its mark: one of the words above."""

    text: str
    mark: str


@dataclass(frozen=True)
class Marked:
    """The three columns of a hunk, line by line; ``before`` and ``after`` stand around each of them."""

    line: int
    before: tuple[Line, ...]
    ours: tuple[Line, ...]
    theirs: tuple[Line, ...]
    answer: tuple[Line, ...]
    after: tuple[Line, ...]


def unmarked(hunk: Hunk) -> Marked:
    """A hunk that nothing has answered: no line is kept or lost yet."""
    return Marked(
        hunk.line, _plain(hunk.before), _plain(hunk.ours), _plain(hunk.theirs), (), _plain(hunk.after)
    )


def marked(hunk: Hunk) -> Marked:
    """The hunk with a mark on each line that says something; a blank line says nothing."""
    ours, theirs, answer = (frozenset(_bare(side)) for side in (hunk.ours, hunk.theirs, hunk.answer))
    return Marked(
        line=hunk.line,
        before=_plain(hunk.before),
        ours=_kept(hunk.ours, answer),
        theirs=_kept(hunk.theirs, answer),
        answer=tuple(Line(text, _source(text.rstrip(), ours, theirs)) for text in hunk.answer),
        after=_plain(hunk.after),
    )


def _bare(lines: Collection[str]) -> list[str]:
    return [line.rstrip() for line in lines]


def _plain(lines: Collection[str]) -> tuple[Line, ...]:
    return tuple(Line(text, PLAIN) for text in lines)


def _kept(lines: Collection[str], answer: Collection[str]) -> tuple[Line, ...]:
    return tuple(Line(text, _fate(text.rstrip(), answer)) for text in lines)


def _fate(text: str, answer: Collection[str]) -> str:
    return PLAIN if not text else KEPT if text in answer else LOST


def _source(text: str, ours: Collection[str], theirs: Collection[str]) -> str:
    if not text:
        return PLAIN
    if text in ours:
        return BOTH if text in theirs else OURS
    return THEIRS if text in theirs else NEW
