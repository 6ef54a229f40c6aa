"""What was published last, kept beside the journal on ``refs/stackmerge/<stack>/published``.

The leases of a push are these ids: what is on the remote and is none of them is somebody else's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace

from stackmerge.errors import StackmergeError
from stackmerge.journal import stack_ref
from stackmerge.objects import EMPTY_TREE, Commit, Person
from stackmerge.repository import Repository


@dataclass(frozen=True)
class Numbered:
    """The pull request of a step."""

    step: str
    number: int


@dataclass(frozen=True)
class Published:
    """``branches``: full ref names with the commits on the remote. ``pending``: those of a push that may have been.

    ``pulls``: pull requests by branch. A branch stays here until it is deleted on the remote.
    ``place``: the repository among all, by its API's host and its name there; empty in an older record.
    """

    branches: Mapping[str, str] = field(default_factory=dict)
    pending: Mapping[str, str] = field(default_factory=dict)
    pulls: Mapping[str, Numbered] = field(default_factory=dict)
    place: str = ""

    def ours(self, ref: str) -> set[str]:
        """The commits that we put, or may have put, on a ref of the remote."""
        return {found[ref] for found in (self.branches, self.pending) if ref in found}

    def at(self, place: str) -> Published:
        """What of it counts at a place: all of an older record, and nothing of what was published elsewhere."""
        return replace(self, place=place) if self.place in ("", place) else Published(place=place)

    def without(self, branch: str) -> Published:
        """It, less a branch that is not ours any more, with its pull request."""
        ref = f"refs/heads/{branch}"
        branches, pending = (
            {r: c for r, c in one.items() if r != ref} for one in (self.branches, self.pending)
        )
        pulls = {name: one for name, one in self.pulls.items() if name != branch}
        return replace(self, branches=branches, pending=pending, pulls=pulls)

    def numbers(self, branches: Mapping[str, str]) -> dict[str, int]:
        """The pull request of each step, given the branch of each."""
        return {step: self.pulls[branch].number for step, branch in branches.items() if branch in self.pulls}


def read(repository: Repository, stack: str) -> Published:
    """The record; an empty one before the first publication. Raises StackmergeError when it is damaged."""
    ref = stack_ref(stack, "published")
    commit = repository.refs.get(ref)
    if commit is None:
        return Published()
    try:
        found = json.loads(repository.objects.commit(commit).message.partition("\n\n")[2])
        pulls = {branch: Numbered(**one) for branch, one in found["pulls"].items()}
        place = str(found.get("place", ""))
        return Published(dict(found["branches"]), dict(found["pending"]), pulls, place)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        hint = f"`git update-ref -d {ref}` removes it; branches on the remote are then somebody else's"
        raise StackmergeError(f"the record {ref} is damaged", hint) from error


def write(repository: Repository, stack: str, record: Published) -> None:
    """Keep the record, and with it the commits that it names. Does nothing where it says the same already."""
    if repository.refs.get(stack_ref(stack, "published")) and read(repository, stack) == record:
        return
    oids = [*record.branches.values(), *record.pending.values()]
    writer = Person.tool(time.time())
    message = f"published\n\n{json.dumps(asdict(record), sort_keys=True)}\n"
    repository.objects.write_tree({})
    commit = Commit(EMPTY_TREE, tuple(_here(repository, oids)), writer, writer, message)
    repository.refs.set_own(stack_ref(stack, "published"), repository.objects.write_commit(commit))


def _here(repository: Repository, oids: Iterable[str]) -> list[str]:
    return [oid for oid in dict.fromkeys(oids) if repository.has(oid)]
