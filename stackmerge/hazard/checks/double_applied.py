"""The same patch arrives on both sides, at places apart, and the result holds it twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from stackmerge.hazard.checks.seen import NotChecked, Seen, combined
from stackmerge.hazard.view import FileView, View

_LINES = 3
_LETTERS = re.compile(r"\w")
_TRIVIAL = 6


def check(view: View, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Seen | NotChecked]:
    """Runs of lines that both sides added and that the result has once more than either side."""
    del deliberate
    for file in combined(view):
        if isinstance(file, NotChecked):
            yield file
        else:
            yield from _doubled(file)


def _telling(line: str) -> bool:
    return len(_LETTERS.findall(line)) >= _TRIVIAL


def _may_be(file: FileView) -> bool:
    """Do enough of the lines that theirs adds stand in ours as well, and not in the base?"""
    ours, base = set(file.lines("ours")), set(file.lines("base"))
    new = {text for _, text in file.change("base", "theirs").added if text in ours and text not in base}
    return len({text for text in new if _telling(text)}) >= _LINES


def _doubled(file: FileView) -> Iterator[Seen]:
    if not _may_be(file):
        return
    added = {side: {text for _, text in file.change("base", side).added} for side in ("ours", "theirs")}
    common = {text for text in added["ours"] & added["theirs"] if _telling(text)}
    if not common:
        return
    counts = {side: Counter(file.lines(side)) for side in ("base", "ours", "theirs", "merged")}
    twice = {
        t
        for t in common
        if counts["merged"][t] > max(counts["ours"][t], counts["theirs"][t], counts["base"][t])
    }
    if not twice:
        return
    new = {
        text for text in twice if not counts["base"][text]
    }  # a line of the base is one that people write often
    runs = [run for run in _runs(file.lines("merged"), twice) if len({t for _, t in run} & new) >= _LINES]
    blocks = Counter(tuple(text for _, text in run) for run in runs)
    for run in runs:
        if blocks[tuple(text for _, text in run)] > 1 or _contained(run, runs):
            what = f"{len(run)} lines that both sides added are there twice"
            yield Seen(file.path, what, tuple((n, text.strip()) for n, text in run[:10]))
            return


def _runs(lines: list[str], wanted: set[str]) -> list[list[tuple[int, str]]]:
    """Runs of wanted lines; lines that say nothing may stand between them."""
    runs: list[list[tuple[int, str]]] = [[]]
    for number, text in enumerate(lines, 1):
        if text in wanted:
            runs[-1].append((number, text))
        elif _telling(text) and runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _contained(run: list[tuple[int, str]], runs: list[list[tuple[int, str]]]) -> bool:
    texts = {text for _, text in run}
    return any(other is not run and texts <= {text for _, text in other} for other in runs)
