"""The hunks of a conflict beside their answer: what ours said, what theirs said, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_MARKER = re.compile(r"(<{7,}|\|{7,}|={7,}|>{7,})(?: .*)?$")
CONTEXT = 2


@dataclass(frozen=True)
class Hunk:
    """One hunk: lines of both sides, of the answer, and some lines around it. ``line`` counts in the answer."""

    line: int
    before: tuple[str, ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    answer: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class _Span:
    """Where a hunk stands in the conflicted file, markers included, and its two sides."""

    start: int
    end: int
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


def hunks(conflicted: bytes, answer: bytes) -> list[Hunk]:
    """The hunks of ``conflicted`` (git's own markers) with the part of ``answer`` that took their place."""
    old = conflicted.decode(errors="replace").splitlines()
    new = answer.decode(errors="replace").splitlines()
    if len(old) + len(new) > 40_000:
        return []
    blocks = (
        SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks() if len(old) < 4000 else None
    )
    blocks = blocks or SequenceMatcher(None, old, new).get_matching_blocks()
    return [_beside(span, new, blocks) for span in _spans(old)]


def _beside(span: _Span, new: Sequence[str], blocks: Sequence[tuple[int, int, int]]) -> Hunk:
    start = max((b + size for a, b, size in blocks if size and a + size <= span.start), default=0)
    start = max([start, *(b + span.start - a for a, b, size in blocks if a < span.start < a + size)])
    end = min((b for a, b, size in blocks if size and a >= span.end), default=len(new))
    end = min([end, *(b + span.end - a for a, b, size in blocks if a < span.end < a + size)])
    end = max(start, end)
    return Hunk(
        line=start + 1,
        before=tuple(new[max(0, start - CONTEXT) : start]),
        ours=span.ours,
        theirs=span.theirs,
        answer=tuple(new[start:end]),
        after=tuple(new[end : end + CONTEXT]),
    )


def _spans(lines: Sequence[str]) -> Iterator[_Span]:
    """The outermost hunks of a file that git left in conflict."""
    start, side = -1, ""
    sides: dict[str, list[str]] = {}
    size = 0
    for number, line in enumerate(lines):
        found = _MARKER.match(line)
        mark = found[1] if found else ""
        if start < 0:
            if mark.startswith("<"):
                start, side, size, sides = number, "ours", len(mark), {"ours": [], "base": [], "theirs": []}
        elif len(mark) == size and mark[0] in "|=>":
            if mark[0] == ">":
                yield _Span(start, number + 1, tuple(sides["ours"]), tuple(sides["theirs"]))
                start = -1
            side = {"|": "base", "=": "theirs"}.get(mark[0], side)
        else:
            sides[side].append(line)
