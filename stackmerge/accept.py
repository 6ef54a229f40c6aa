"""Accept a rebuild: move its branches in one transaction, keep the state for `undo`, write the lock."""

from __future__ import annotations

from pathlib import Path

from stackmerge import lock, worktrees
from stackmerge.errors import StackmergeError
from stackmerge.journal import Journal, stack_ref
from stackmerge.record import Run
from stackmerge.refs import Update
from stackmerge.repository import Repository

KEPT_STATES = 20


class NotAccepted(StackmergeError):
    """All is well with the rebuild, but its branches cannot move now; it stays a candidate."""


class BranchInUse(NotAccepted):
    """A branch that must move is checked out in a work tree, or a rebase or bisect there will go back to it."""

    def __init__(self, found: worktrees.InUse) -> None:
        self.words = f"branch {found.ref.removeprefix('refs/heads/')} is {found.how} in {found.place}"
        free = "check out something else" if found.how == "checked out" else "end that"
        super().__init__(
            f"the result is a candidate: {self.words}", f"{free} there, then run `stackmerge accept`"
        )


def accepted_states(repository: Repository, stack: str) -> list[tuple[int, str]]:
    """The kept states, oldest first: number and journal commit."""
    prefix = stack_ref(stack, "accepted/")
    return sorted((int(name.removeprefix(prefix)), oid) for name, oid in repository.refs.below(prefix))


def last_accepted(repository: Repository, journal: Journal, stack: str) -> Run | None:
    """The rebuild that the branches show now."""
    states = accepted_states(repository, stack)
    return journal.read(states[-1][1]) if states else None


def accepted_same(repository: Repository, journal: Journal, run: Run) -> Run | None:
    """The newest kept state with the base and the very tree of ``run``: what was accepted then is proven now."""
    objects = repository.objects
    tree = objects.commit(run.tip).tree
    for _, oid in reversed(accepted_states(repository, run.plan.stack)):
        kept = journal.read(oid)
        if kept and kept.plan.base == run.plan.base and objects.commit(kept.tip).tree == tree:
            return kept
    return None


def accept(
    repository: Repository, journal: Journal, run: Run, lock_path: Path, *, force: bool = False
) -> None:
    """Move the branches to ``run`` and write the lock. Raises NotAccepted, with nothing moved, when they must stay.

    Safe to repeat: interrupted anywhere, doing it again ends in the same state.
    """
    stack = run.plan.stack
    states = accepted_states(repository, stack)
    moved = run.state == "accepting" and bool(states) and states[-1][1] == journal.last
    if not moved:
        before = journal.read(states[-1][1]) if states else None
        updates = _updates(repository, before, run, force=force)
        _refuse_checked_out(repository, updates)
        if run.state == "accepting":
            repository.refs.clear_locks_of(updates)  # the one who was killed in this transaction
        else:
            journal.note("accepting")
        replaced = states.pop() if before and _same(before, run) else None
        number = replaced[0] if replaced else states[-1][0] + 1 if states else 1
        kept = replaced[1] if replaced else None
        state = Update(stack_ref(stack, f"accepted/{number}"), journal.last, kept)
        old = [Update(stack_ref(stack, f"accepted/{n}"), None, oid) for n, oid in states[: -KEPT_STATES + 1]]
        try:
            repository.refs.transaction(
                [*updates, state, *old], f"stackmerge: {stack} onto {run.plan.base[:12]}"
            )
        except StackmergeError:
            journal.note("candidate")
            raise
    lock.save(lock_path, lock_of(run))
    journal.note("accepted")


def _same(before: Run, run: Run) -> bool:
    """Is there nothing to go back from? Then the newer record takes the place of the one before."""
    return (before.plan.base, before.branches()) == (run.plan.base, run.branches())


def lock_of(run: Run) -> lock.Lock:
    """The lock that describes a rebuild."""
    done = run.by_name
    steps = {
        step.name: lock.Pin(
            step.source,
            step.head,
            done[step.name].commit if done[step.name].commit != done[step.name].below else step.earlier,
            done[step.name].outcome,
        )
        for step in run.plan.steps
        if step.name in done
    }
    return lock.Lock(run.plan.base, run.tip, steps)


def _updates(repository: Repository, before: Run | None, run: Run, *, force: bool) -> list[Update]:
    """What must move, from where we left it last to where it belongs now."""
    known = before.branches() if before else {}
    wanted: dict[str, str | None] = dict.fromkeys(known)
    wanted |= run.branches()
    updates = []
    for ref, new in wanted.items():
        now = repository.refs.get(ref)
        if now == new:
            continue
        if repository.refs.is_symbolic(ref):
            raise NotAccepted(
                f"{ref.removeprefix('refs/heads/')} is a symbolic ref, which stands for another branch",
                f"`git symbolic-ref --delete {ref}` makes room for a branch; then run `stackmerge accept`",
            )
        if now is not None and now != known.get(ref) and not force:
            raise NotAccepted(
                f"{ref.removeprefix('refs/heads/')} is at {now[:12]}, where stackmerge did not put it",
                "look at what is new there; `stackmerge accept --force` moves it all the same (`undo` goes back)",
            )
        updates.append(Update(ref, new, now))
    return updates


def _refuse_checked_out(repository: Repository, updates: list[Update]) -> None:
    moving = {update.ref for update in updates}
    for found in worktrees.branches_in_use(repository) if moving else ():
        if found.ref in moving:
            raise BranchInUse(found)
