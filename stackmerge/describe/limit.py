"""Keep a description within the forge's limit: old rebase notes go first, then environment, then benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    sizes: list[int] = []
    for smaller, left_out in _smaller(facts):
        merged = put(render(smaller, left_out))
        if len(merged.text) <= limit:
            return merged
        sizes.append(len(merged.text))
    raise StackmergeError(
        f"the description of {facts.step} has {sizes[-1]:,} characters where {limit:,} are allowed",
        "shorten the step's notes, or what was written around the sections by hand",
    )


def _smaller(facts: StepFacts) -> Iterator[tuple[StepFacts, int]]:
    """The facts whole, with fewer and fewer old rebase notes, without environment, without benchmarks."""
    notes = facts.rebases
    for kept in range(len(notes), 0, -1):
        yield replace(facts, rebases=notes[:kept]), len(notes) - kept
    newest, left_out = notes[:1], max(len(notes) - 1, 0)
    if not notes:
        yield facts, 0
    bare = replace(facts, rebases=newest, environment=())
    yield bare, left_out
    yield replace(bare, benchmarks=None), left_out
