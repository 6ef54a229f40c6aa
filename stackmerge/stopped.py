"""A rebuild that is stopped at a step: nothing else may take the place of what a person is editing."""

from __future__ import annotations

from stackmerge.errors import StackmergeError
from stackmerge.stack import Stack
from stackmerge.worktree import ConflictTree


def refuse_stopped(stack: Stack) -> None:
    """Raise StackmergeError while the last rebuild waits for a person, or was killed as its branches moved."""
    run = stack.last_run()
    if run and run.state == "accepting":
        raise StackmergeError(
            "the last rebuild was killed while its branches moved", "run `stackmerge continue`"
        )
    tree = ConflictTree(stack.repository, stack.name)
    if run and run.state == "candidate" and tree.exists:
        stopped = run.failed.step if run.failed else run.steps[-1].name if run.steps else "its start"
        if run.failed and tree.untouched(run.by_name[stopped].tree):
            return
        raise StackmergeError(
            f"a rebuild of {stack.name!r} is stopped at {stopped}",
            "`stackmerge continue` or `stackmerge abort` it first",
        )


def replace_stopped(stack: Stack) -> None:
    """The same, and remove a private work tree that nobody has touched."""
    refuse_stopped(stack)
    tree = ConflictTree(stack.repository, stack.name)
    if tree.exists:
        tree.remove()
