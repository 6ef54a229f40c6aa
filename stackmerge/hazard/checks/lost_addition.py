"""What one side added, or fixed, is not in the result, although the other side never touched it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from stackmerge.hazard import languages
from stackmerge.hazard.checks import outline
from stackmerge.hazard.checks.seen import NotChecked, Seen
from stackmerge.hazard.view import FileView, Unreadable, View

_LETTERS = re.compile(r"\w")
_TRIVIAL = 6
_OTHER = {"ours": "theirs", "theirs": "ours"}


def check(view: View, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Seen | NotChecked]:
    """Lost definitions, lost additions and fixes undone. ``deliberate``: what a rule says must go."""
    if view.before:
        return
    for file in view.files():
        if not file.both or file.merged is None:
            continue
        try:
            for side in () if file.is_plain else ("ours", "theirs"):
                yield from _lost(file, side, deliberate)
        except Unreadable as error:
            yield NotChecked(file.path, str(error))


def _telling(text: str) -> bool:
    return len(_LETTERS.findall(text)) >= _TRIVIAL


def _lost(file: FileView, side: str, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Seen]:
    other = _OTHER[side]
    change = file.change("base", side)
    merged = Counter(line.strip() for line in file.lines("merged"))
    missing = {t for _, t in change.added if _telling(t) and not merged[t.strip()]}
    missing = {t for t in missing if not any(pattern.search(t) for pattern in deliberate)}
    if not missing:
        return
    names = _lost_names(file, side, deliberate)
    if names:
        yield Seen(file.path, f"{', '.join(names)}, added by {side}, is not in the result")
        return
    undone = _undone(file, side, other, merged)
    if undone:
        yield Seen(file.path, f"a change by {side} is undone: the lines it replaced are back", undone)
        return
    for block in _blocks(file, side):
        telling = [t for _, t in block if _telling(t)]
        gone = [t for t in telling if t in missing]
        if gone and len(gone) == len(telling) and not _answered(file, block):
            lines = tuple((n, t.strip()) for n, t in block[:10])
            yield Seen(file.path, f"lines added by {side} are not in the result (numbers of {side})", lines)
            return


def _lost_names(file: FileView, side: str, deliberate: Sequence[re.Pattern[str]]) -> list[str]:
    language = languages.of(file.path)
    own = outline.defined(file.text(side), language)
    known = outline.defined(file.text("base"), language) | outline.defined(file.text("merged"), language)
    lost = own - known
    return sorted(name for name in lost if not any(pattern.search(name) for pattern in deliberate))


def _undone(file: FileView, side: str, other: str, merged: Counter[str]) -> tuple[tuple[int, str], ...]:
    """Lines that a side replaced, that the other side left alone, and that the result holds again."""
    removed = [t for _, t in file.change("base", side).removed if _telling(t)]
    own = Counter(line.strip() for line in file.lines(side))
    left = Counter(line.strip() for line in file.lines(other))
    back = {t.strip() for t in removed if not own[t.strip()] and left[t.strip()] and merged[t.strip()]}
    lines = enumerate(file.lines("merged"), 1)
    return tuple((n, text.strip()) for n, text in lines if text.strip() in back)[:10]


def _blocks(file: FileView, side: str) -> Iterator[list[tuple[int, str]]]:
    """Runs of lines that a side only added, where it replaced nothing."""
    change = file.change("base", side)
    added = enumerate(change.added)
    for _, run in groupby(added, key=lambda pair: pair[1][0] - pair[0]):
        yield [line for _, line in run]


def _answered(file: FileView, block: list[tuple[int, str]]) -> bool:
    """Did somebody rewrite the lines rather than lose them: is every word of theirs that is new still used?"""
    words = {w for _, text in block for w in re.findall(r"[A-Za-z_]\w{3,}", text)}
    new = words - set(re.findall(r"[A-Za-z_]\w{3,}", file.text("base")))
    return bool(words) and new <= set(re.findall(r"[A-Za-z_]\w{3,}", file.text("merged")))
