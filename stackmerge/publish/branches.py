"""Which branches of the remote move, and that nobody else has moved them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    push: list[RefUpdate] = []
    notes: list[str] = []
    foreign: list[str] = []
    for ref, new in wanted.items():
        now = there.get(ref, "")
        ours = record.ours(ref) or set(earlier.get(ref, ()))
        if now and now != new and now not in ours:
            foreign.append(_foreign(ref, now, record))
        elif now != new:
            push.append(RefUpdate(ref, new, now))
            if not now and ref in record.branches:
                notes.append(f"{_branch(ref)} was deleted on the remote: it is made again")
    delete: list[RefUpdate] = []
    for ref in sorted({*record.branches, *record.pending} - set(wanted)):
        now = there.get(ref, "")
        if now and now not in record.ours(ref):
            foreign.append(_foreign(ref, now, record))
        elif now:
            delete.append(RefUpdate(ref, "", now))
    if foreign:
        _refuse(foreign)
    return Moves(tuple(push), tuple(delete), tuple(notes))


def _branch(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _foreign(ref: str, now: str, record: Published) -> str:
    left = record.branches.get(ref)
    where = f", where {left[:_SHORT]} was published" if left else ", which was never published from here"
    return f"{_branch(ref)} is at {now[:_SHORT]}{where}"


def _refuse(foreign: Sequence[str]) -> None:
    hint = "somebody else's commits: take them into the step and rebuild, or put the branch back; then publish again"
    raise StackmergeError(f"nothing was pushed: {'; '.join(foreign)}", hint)
