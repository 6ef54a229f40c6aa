"""Merge bases, of many heads at once and along a stack.

One walk of git's finds the commits that the heads have and the base has not. The rest is done on these in memory:
asked one by one, git and libgit2 walk the history between two commits anew each time, and take 5 and 20 ms for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from stackmerge.errors import StackmergeError
from stackmerge.git import Git, GitFailed
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


class History:
    """Which commits hold which others, asked of git one by one and remembered. A missing commit holds nothing."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._known: dict[tuple[str, str], bool] = {}

    def holds(self, tip: str, commit: str) -> bool:
        """Is ``commit`` the ``tip`` itself or an ancestor of it?"""
        asked = (tip, commit)
        if asked not in self._known:
            done = self._git.run("merge-base", "--is-ancestor", commit, tip, ok=(0, 1, 128))
            self._known[asked] = done.returncode == 0
        return self._known[asked]


class Ancestry(History):
    """Ancestry of one stack: its commits on a base, asked about from the lowest step up, and its heads.

    Each commit that was asked about has a height on the base, and each commit that it holds the height at which it
    came in.
    """

    def __init__(self, git: Git, objects: Objects, base: str, heads: Iterable[str]) -> None:
        super().__init__(git)
        self._objects = objects
        self._base = base
        self._heads = frozenset(heads)
        self._height: dict[str, int] = {base: 0}
        self._highest = 0
        self._inside: dict[str, int] = {}
        self._best: dict[frozenset[str], list[str]] = {}
        self._lacks: dict[str, Parents | None] = {}

    @cached_property
    def _own(self) -> Parents:
        return own_commits(self._git, self._heads, self._base)

    def merge_bases(self, ours: str, theirs: str) -> list[str]:
        """Every best common ancestor of ``ours``, a commit on the base, and ``theirs``, one of the heads."""
        height = self._climb(ours)
        inside: Collection[str] = self._inside
        if height < self._highest:
            inside = {commit for commit, came in self._inside.items() if came <= height}
        met = first_outside(theirs, self._own, inside)
        if len(met) < 2:
            return list(met)
        if met not in self._best:
            self._best[met] = self._git.text("merge-base", "--independent", *sorted(met)).split()
        return self._best[met]

    def holds(self, tip: str, commit: str) -> bool:
        """As of any history; in memory where ``tip`` is of the stack, in one walk for all heads where it is not."""
        if self._is_of_the_stack(tip):
            height = self._climb(tip)
            if commit in self._own or commit in self._inside:
                return self._inside.get(commit, height + 1) <= height
            return super().holds(self._base, commit)
        if commit in self._heads:
            if tip not in self._lacks:
                self._lacks[tip] = self._lacking(tip)
            lacking = self._lacks[tip]
            return lacking is not None and commit not in lacking
        return super().holds(tip, commit)

    def _is_of_the_stack(self, tip: str) -> bool:
        """Does it stand on a commit that was asked about?"""
        if tip in self._height:
            return True
        try:
            return not self._height.keys().isdisjoint(self._objects.commit(tip).parents[:1])
        except StackmergeError:  # it is not here
            return False

    def _lacking(self, tip: str) -> Parents | None:
        """What of the heads ``tip`` has not; None where the commit is not here."""
        try:
            return own_commits(self._git, self._heads, tip)
        except GitFailed:
            return None

    def _climb(self, tip: str) -> int:
        """Learn what ``tip`` holds: the steps down to one that is known, or to the base, and what they merged."""
        steps, at = [], tip
        while at not in self._height:
            steps.append(at)
            at = self._objects.commit(at).parents[0]
        if steps:
            self._forget_above(self._height[at])
        height = self._height[at]
        for step in reversed(steps):
            height += 1
            self._height[step] = height
            self._hold([step, *self._objects.commit(step).parents[1:]], height)
        self._highest = max(self._highest, height)
        return height

    def _hold(self, left: list[str], height: int) -> None:
        while left:
            commit = left.pop()
            ours = commit in self._own or (commit in self._height and commit != self._base)
            if ours and commit not in self._inside:
                self._inside[commit] = height
                left += self._own.get(commit, ())

    def _forget_above(self, height: int) -> None:
        """What is known is one chain: before another is climbed, what stands on the commit where they part must go."""
        if height < self._highest:
            self._height = {commit: known for commit, known in self._height.items() if known <= height}
            self._inside = {commit: came for commit, came in self._inside.items() if came <= height}
            self._highest = height
