"""Undo: go back to an earlier accepted state."""

from __future__ import annotations

from dataclasses import dataclass

from stackmerge import accept
from stackmerge.errors import StackmergeError, UsageError
from stackmerge.record import Run
from stackmerge.stack import Stack
from stackmerge.stopped import replace_stopped


@dataclass(frozen=True)
class State:
    """One accepted state that can be gone back to. ``again``: the earlier state that an undo went back to, or 0."""

    number: int
    base: str
    tip: str
    started: float
    current: bool
    again: int = 0


def states(stack: Stack) -> list[State]:
    """The kept states, oldest first; the last one is what the branches show."""
    found = accept.accepted_states(stack.repository, stack.name)
    first: dict[tuple[float, str], int] = {}
    states = []
    for number, commit in found:
        if run := stack.journal.read(commit):
            same = first.setdefault((run.started, run.tip), number)
            again = same if same != number else 0
            states.append(State(number, run.plan.base, run.tip, run.started, number == found[-1][0], again))
    return states


def undo(stack: Stack, number: int | None = None) -> Run:
    """Go back to state ``number`` (default: the one before). It becomes the newest state, so undo can be undone.

    Raises StackmergeError while a rebuild is stopped at a step.
    """
    with stack.exclusive():
        kept = accept.accepted_states(stack.repository, stack.name)
        if len(kept) < 2 and number is None:
            raise StackmergeError("there is no earlier state to go back to", "see `stackmerge undo --list`")
        wanted = kept[-2][0] if number is None else number
        commit = dict(kept).get(wanted)
        if commit is None:
            raise UsageError(f"there is no state {wanted}", "see `stackmerge undo --list`")
        replace_stopped(stack)
        stack.journal.again(commit)
        run = stack.last_run()
        assert run is not None
        try:
            accept.accept(stack.repository, stack.journal, run, stack.manifest.lock_path)
        except accept.BranchInUse as error:
            raise StackmergeError(
                f"{error.words}, so it cannot go back yet",
                "switch away from it there, then `stackmerge accept` finishes this undo",
            ) from error
        return run
