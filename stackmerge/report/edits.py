"""The places where two versions of a text differ, as a unified diff would group them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from stackmerge.report.marks import Line

CONTEXT = 2
MOST_LINES = 20_000
SHOWN = 120
GONE, ADDED = "gone", "added"


@dataclass(frozen=True)
class Edit:
    """One place, at ``line`` of the new version: its lines, ``gone`` and ``added`` among plain ones."""

    line: int
    lines: tuple[Line, ...]


def edits(old: bytes, new: bytes) -> tuple[Edit, ...]:
    """What turns ``old`` into ``new``: of a long text nothing, of many changes the first."""
    before, after = (data.decode(errors="replace").splitlines() for data in (old, new))
    if len(before) + len(after) > MOST_LINES:
        return ()
    groups = SequenceMatcher(None, before, after, autojunk=len(before) > 4000).get_grouped_opcodes(CONTEXT)
    found, shown = [], 0
    for group in groups:
        if shown > SHOWN:
            break
        lines = tuple(_lines(group, before, after))[:SHOWN]
        shown += len(lines)
        found.append(Edit(group[0][3] + 1, lines))
    return tuple(found)


def _lines(
    group: list[tuple[str, int, int, int, int]], before: list[str], after: list[str]
) -> Iterator[Line]:
    for kind, a, b, c, d in group:
        if kind == "equal":
            yield from (Line(text, "") for text in after[c:d])
        else:
            yield from (Line(text, GONE) for text in before[a:b])
            yield from (Line(text, ADDED) for text in after[c:d])
