"""Keep a description within the forge's limit: old rebase notes go first, then environment, then benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stackmerge.describe.facts import StepFacts
from stackmerge.describe.sections import Body, Merged
from stackmerge.errors import StackmergeError

GITHUB = 65_536


def fitted(
    facts: StepFacts, limit: int, render: Callable[[StepFacts, int], Body], put: Callable[[Body], Merged]
) -> Merged:
    """The first of ever shorter descriptions that fits. Conflicts and hazards are never cut.

    ``render`` makes the sections (and is told how many rebase notes are left out), ``put`` the whole body.
    Raises StackmergeError where even the shortest is too long.
    """

    def made(smaller: StepFacts, left_out: int) -> Merged:
        return put(render(smaller, left_out))

    whole = made(facts, 0)
    if len(whole.text) <= limit:
        return whole
    notes = facts.rebases
    kept = _most(len(notes) - 1, lambda count: len(made(*_first(facts, count)).text) <= limit)
    if kept:
        return made(*_first(facts, kept))
    newest, left_out = _first(facts, 1)
    bare = replace(newest, environment=())
    for smaller in (bare, replace(bare, benchmarks=None)):
        cut = made(smaller, left_out)
        if len(cut.text) <= limit:
            return cut
    raise StackmergeError(
        f"the description of {facts.step} has {len(cut.text):,} characters where {limit:,} are allowed",
        "shorten the step's notes, or what was written around the sections by hand",
    )


def _first(facts: StepFacts, count: int) -> tuple[StepFacts, int]:
    """The facts with the newest ``count`` rebase notes, and how many are left out."""
    return replace(facts, rebases=facts.rebases[:count]), max(len(facts.rebases) - count, 0)


def _most(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number from 1 to ``most`` that fits, by bisection; 0 where none does."""
    low, high = 0, max(most, 0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
