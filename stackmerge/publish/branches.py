"""Which branches of the remote move, and that nobody else has moved them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from stackmerge.errors import StackmergeError
from stackmerge.publish.actions import RefUpdate
from stackmerge.publish.state import Published

_SHORT = 12


@dataclass(frozen=True)
class Moves:
    """What to push and what to delete; ``notes`` say what was found otherwise than it was left."""

    push: tuple[RefUpdate, ...]
    delete: tuple[RefUpdate, ...]
    notes: tuple[str, ...] = ()


def moves(
    record: Published,
    wanted: Mapping[str, str],
    there: Mapping[str, str],
    earlier: Mapping[str, Collection[str]],
) -> Moves:
    """From what is on the remote to what is wanted.

    ``earlier`` are commits that accepted rebuilds had on each ref: on a first publication they are ours as well.
    Raises StackmergeError, with nothing done, where a branch is at a commit that we did not put there.
    """
    gone = sorted({*record.branches, *record.pending} - set(wanted))
    foreign = [
        _foreign(ref, there[ref], record)
        for ref in [*wanted, *gone]
        if there.get(ref, "") not in {"", wanted.get(ref, ""), *(record.ours(ref) or earlier.get(ref, ()))}
    ]
    if foreign:
        hint = "somebody else's commits: take them into the step and rebuild, or put the branch back; then try again"
        raise StackmergeError(f"nothing was pushed: {'; '.join(foreign)}", hint)
    push = [RefUpdate(ref, new, there.get(ref, "")) for ref, new in wanted.items() if there.get(ref) != new]
    delete = [RefUpdate(ref, "", there[ref]) for ref in gone if ref in there]
    notes = [
        f"{_branch(update.ref)} was deleted on the remote: it is made again"
        for update in push
        if not update.lease and update.ref in record.branches
    ]
    return Moves(tuple(push), tuple(delete), tuple(notes))


def _branch(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _foreign(ref: str, now: str, record: Published) -> str:
    left = record.branches.get(ref)
    where = f", where {left[:_SHORT]} was published" if left else ", which was never published from here"
    return f"{_branch(ref)} is at {now[:_SHORT]}{where}"
