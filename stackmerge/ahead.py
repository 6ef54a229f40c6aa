"""The first merges of a rebuild, begun while the rest of the program is loaded: git is what a rebuild waits for.

What is told here is a guess. Nothing depends on it: a merge that the rebuild does not ask for is given up.
"""

from __future__ import annotations

from contextlib import suppress

from stackmerge.errors import StackmergeError
from stackmerge.lock import Pin
from stackmerge.manifest import Step
from stackmerge.merger import Pair
from stackmerge.repository import Repository
from stackmerge.stack import Stack


def begin(stack: Stack, onto: str | None, *, fresh: bool) -> None:
    """Have git begin on the merges that rebuilding ``stack`` onto ``onto`` will probably ask for."""
    repository = stack.repository
    if not repository.has_commit_graph:  # which the rebuild writes first
        return
    with suppress(StackmergeError):
        pairs = _likely(stack, onto, fresh=fresh)
        if pairs:
            repository.merger.begin(*pairs[0])
            repository.merger.expect(pairs[1:])


def _likely(stack: Stack, onto: str | None, *, fresh: bool) -> list[Pair]:
    """The first merge. On the base of before, steps mostly come out as they were, and then all merges can be told."""
    repository, lock = stack.repository, stack.lock
    base = repository.commit_id(onto or lock.base or stack.manifest.base, "--onto")
    if base == lock.base and not fresh:
        return []  # what is known is not merged again
    pairs: list[Pair] = []
    below = base
    for step in stack.manifest.steps:
        pin = lock.steps.get(step.name)
        if pin is None or not _is_as_pinned(repository, step, pin):
            break
        if step.kind == "merge":
            pairs.append((below, pin.head))
        elif repository.objects.commit(pin.head).parents != (below,):
            break
        if base != lock.base or pin.commit in ("", below) or not repository.has(pin.commit):
            break
        below = pin.commit
    return pairs


def _is_as_pinned(repository: Repository, step: Step, pin: Pin) -> bool:
    return pin.source == step.source and pin.outcome != "landed" and repository.has(pin.head)
