"""Merge bases, of many heads at once and along a stack.

One walk of git's finds the commits that the heads have and the base has not. The rest is done on these in memory:
asked one by one, git and libgit2 walk the history between two commits anew each time, and take 5 and 20 ms for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from stackmerge.git import Git
from stackmerge.objects import Objects

Parents = Mapping[str, list[str]]


def own_commits(git: Git, heads: Iterable[str], base: str) -> Parents:
    """The parents of every commit that some head has and ``base`` has not."""
    asked = "".join(f"{line}\n" for line in (*sorted(set(heads)), f"^{base}"))
    done = git.run("rev-list", "--topo-order", "--parents", "--stdin", stdin=asked.encode())
    return {line[:40]: line[41:].split() for line in done.stdout.decode().splitlines()}


def first_outside(head: str, own: Parents, inside: Collection[str] = ()) -> frozenset[str]:
    """The first commits on each way down from ``head`` that are ``inside``, or not in ``own``."""
    met, seen, left = set(), {head}, [head]
    while left:
        at = left.pop()
        if at in inside or at not in own:
            met.add(at)
            continue
        left += [parent for parent in own[at] if parent not in seen]
        seen.update(own[at])
    return frozenset(met)


class Ancestry:
    """Merge bases of a stack's commits with its heads, asked for from the lowest step up."""

    def __init__(self, git: Git, objects: Objects, base: str, heads: Iterable[str]) -> None:
        self._git = git
        self._objects = objects
        self._base = base
        self._heads = tuple(heads)
        self._top = base
        self._inside: set[str] = set()
        self._best: dict[frozenset[str], list[str]] = {}

    @cached_property
    def _own(self) -> Parents:
        return own_commits(self._git, self._heads, self._base)

    def merge_bases(self, ours: str, theirs: str) -> list[str]:
        """Every best common ancestor of ``ours``, a commit on the base, and ``theirs``, one of the heads."""
        self._climb(ours)
        met = first_outside(theirs, self._own, self._inside)
        if len(met) < 2:
            return list(met)
        if met not in self._best:
            self._best[met] = self._git.text("merge-base", "--independent", *sorted(met)).split()
        return self._best[met]

    def _climb(self, tip: str) -> None:
        """Learn what ``tip`` holds: the steps down to where we were, or to the base, and what they merged."""
        steps, at = [], tip
        while at not in (self._base, self._top):
            steps.append(at)
            at = self._objects.commit(at).parents[0]
        if at != self._top:
            self._inside.clear()
        self._top = tip
        self._inside.update(steps)
        left = [head for step in steps for head in self._objects.commit(step).parents[1:]]
        while left:
            commit = left.pop()
            if commit in self._own and commit not in self._inside:
                self._inside.add(commit)
                left += self._own[commit]
