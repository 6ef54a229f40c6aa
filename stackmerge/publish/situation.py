"""What publishing starts from: the rebuild, the record, the remote's branches and the pull requests. Only reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from stackmerge import accept
from stackmerge.errors import StackmergeError, UsageError
from stackmerge.forge.base import MERGED, OPEN, Forge, Pull
from stackmerge.journal import stack_ref
from stackmerge.publish import state
from stackmerge.publish.state import Published
from stackmerge.publish.targets import Target, targets
from stackmerge.publish.texts import closed_by_us
from stackmerge.record import Run
from stackmerge.remote import Remote
from stackmerge.stack import Stack


@dataclass(frozen=True)
class Situation:
    """Everything that a plan is made from.

    ``pulls`` are the open pull requests by branch, ``leaving`` those by branch whose steps have left the stack,
    ``shut`` those that a person closed or merged; ``wanted`` refs include the trunk where it is behind.
    ``notes`` say what of the record was not used.
    """

    run: Run
    record: Published
    targets: tuple[Target, ...]
    wanted: Mapping[str, str]
    there: Mapping[str, str]
    earlier: Mapping[str, set[str]]
    pulls: Mapping[str, Pull]
    leaving: Mapping[str, Pull | None]
    shut: Mapping[str, Pull]
    trunk: str
    notes: tuple[str, ...] = ()


def read(
    stack: Stack, run: Run, remote: Remote, forge: Forge, place: str, tell: Callable[[str], None]
) -> Situation:
    """Look at the remote and at every pull request: one request for each. ``place`` is that of the repository."""
    trunk = stack.manifest.publishing.trunk
    kept = state.read(stack.repository, stack.name)
    record = kept.at(place).without(trunk)
    notes = list(_elsewhere(kept, place))
    aims = targets(run, trunk)
    branches = run.branches()
    if f"refs/heads/{trunk}" in branches:
        raise UsageError(
            f"{trunk} is a branch of the stack, so it cannot be the trunk", "see `publish.trunk`"
        )
    there = remote.refs(sorted({f"refs/heads/{trunk}", *branches, *record.branches, *record.pending}))
    trunk_move = _trunk_move(stack, run, remote, trunk, there)
    pulls: dict[str, Pull] = {}
    shut: dict[str, Pull] = {}
    for target in aims:
        tell(f"reading the pull request of {target.step}")
        known = _recorded(forge, record, target.branch, notes)
        found = known if known and _stays(known, target, stack, there[f"refs/heads/{trunk}"]) else None
        found = found or forge.find(target.branch)
        if found:
            (pulls if found.state == OPEN else shut)[target.branch] = found
    live = {target.branch for target in aims}
    leaving = {b: _recorded(forge, record, b, notes) for b in record.pulls if b not in live}
    earlier = _earlier(stack) | {ref: {there[ref]} for ref in trunk_move}
    wanted = branches | trunk_move
    return Situation(run, record, aims, wanted, there, earlier, pulls, leaving, shut, trunk, tuple(notes))


def _elsewhere(kept: Published, place: str) -> Iterator[str]:
    if kept.place not in ("", place):
        yield f"what was published at {kept.place} before is left as it is there"


def _recorded(forge: Forge, record: Published, branch: str, notes: list[str]) -> Pull | None:
    """The pull request that we know by its number, if that is one from the branch: else it is somebody else's."""
    known = record.pulls.get(branch)
    found = forge.get(known.number) if known else None
    if found and found.head != branch:
        notes.append(f"pull request {found.number} is not one from {branch} any more and is left alone")
        return None
    return found


def _stays(known: Pull, target: Target, stack: Stack, trunk: str) -> bool:
    """Is a pull request the step's still? Not one that we closed, nor one that was merged as the step is no more.

    A merge leaves the step's commit in the trunk; squashed or rebased it does not, but the head says what was merged.
    """
    if known.state == MERGED:
        return known.head_sha == target.commit or _in_trunk(stack, target, trunk)
    return known.state == OPEN or not closed_by_us(known)


def _in_trunk(stack: Stack, target: Target, trunk: str) -> bool:
    return stack.repository.has(trunk) and stack.repository.is_ancestor(target.commit, trunk)


def _earlier(stack: Stack) -> dict[str, set[str]]:
    """The commits that accepted rebuilds had on each branch."""
    found: dict[str, set[str]] = defaultdict(set)
    for _, oid in accept.accepted_states(stack.repository, stack.name):
        run = stack.journal.read(oid)
        for ref, commit in run.branches().items() if run else ():
            found[ref].add(commit)
    return found


def _trunk_move(
    stack: Stack, run: Run, remote: Remote, trunk: str, there: Mapping[str, str]
) -> dict[str, str]:
    """The trunk fast-forwarded to the base where it is behind: else the lowest pull request shows upstream's commits.

    Raises StackmergeError where the remote's trunk has gone another way.
    """
    ref, base, repository = f"refs/heads/{trunk}", run.plan.base, stack.repository
    now = there.get(ref)
    if now is None:
        raise StackmergeError(f"the remote has no branch {trunk}", "name the trunk with `publish.trunk`")
    if not repository.has(now):
        remote.fetch([f"+{ref}:{stack_ref(stack.name, 'trunk')}"])
    if repository.is_ancestor(base, now):
        return {}
    if repository.is_ancestor(now, base):
        return {ref: base}
    hint = f"the lowest pull request is based on it: bring {base[:12]} into it, or name another with `publish.trunk`"
    raise StackmergeError(f"{trunk} on the remote is at {now[:12]} and does not contain the base", hint)
