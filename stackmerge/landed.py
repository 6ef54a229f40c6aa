"""Has a step's change arrived in the base: as itself, as one squashed commit, or commit by commit?

A squash is no ancestor, so git would merge the old change once more. What arrived is found by patch id in
the commits that the base gained, and a change that was reverted since has not arrived.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from stackmerge.libgit2 import pygit2
from stackmerge.repository import Repository

TAKEN_BACK = "merged, then reverted by"


class Landed:
    """Answers for the commits that ``new_base`` has and ``old_base`` has not."""

    def __init__(self, repository: Repository, old_base: str, new_base: str) -> None:
        self._repository = repository
        self._objects = repository.objects
        self._old = old_base
        self._new = new_base
        self._gained = lru_cache(maxsize=100)(self._find_gained)

    def how(self, head: str, kind: str, *, before: bool = False) -> str:
        """How the step of ``head`` arrived, in words; empty when it has not.

        ``before``: it may have landed in the old base already, so what arrived is sought since the head left
        upstream.
        """
        since = self._repository.merge_base(head, self._new) if before else self._old
        if since is None or (since == self._new and not before):
            return ""
        if kind == "pick":
            found = self._arrival(self._objects.parent_tree(head), self._objects.commit(head).tree, since)
            return f"as {found[:12]}" if found else ""
        if self._repository.is_ancestor(head, self._new):
            new = before or not self._repository.is_ancestor(head, self._old)
            return self._merged(head, since) if new else ""
        return self._squashed(head, since) or self._picked(head, since)

    def _merged(self, head: str, since: str) -> str:
        """In words, and whether upstream took it out again: git does not bring back what it counts as merged."""
        fork = self._repository.merge_base(head, since)
        if fork is None or fork == head:
            return "merged"
        before, after = self._objects.commit(fork).tree, self._objects.commit(head).tree
        undone = self._newest(before, after, since, ours=False)
        return f"{TAKEN_BACK} {undone[:12]}" if undone else "merged"

    def _squashed(self, head: str, since: str) -> str:
        fork = self._repository.merge_base(head, self._new)
        if fork is None:
            return ""
        found = self._arrival(self._objects.commit(fork).tree, self._objects.commit(head).tree, since)
        return f"squashed as {found[:12]}" if found else ""

    def _picked(self, head: str, since: str) -> str:
        """Each commit of the head has its like in the base."""
        walk = self._repository.raw.walk(head)
        walk.hide(self._new)
        own = [str(c.id) for c in walk if len(c.parent_ids) <= 1]
        found: list[str] = []
        for commit in own:
            arrived = self._arrival(
                self._objects.parent_tree(commit), self._objects.commit(commit).tree, since
            )
            if not arrived:
                return ""
            found.append(arrived)
        return f"cherry-picked as {found[0][:12]} and {len(found) - 1} more" if found else ""

    def _arrival(self, before: str, after: str, since: str) -> str:
        """The newest base commit after ``since`` that makes the change between two trees and still stands."""
        return self._newest(before, after, since, ours=True)

    def _newest(self, before: str, after: str, since: str, *, ours: bool) -> str:
        """The newest base commit after ``since`` that makes a change, or takes it back: only one of ``ours`` counts.

        Where the newest is of the other sort, there is none.
        """
        paths = frozenset(self._objects.diff(before, after))
        candidates = self._gained(since).get(paths, [])
        if not paths or not candidates:
            return ""
        made, undone = self._patch(before, after), self._patch(after, before)
        for commit in candidates:
            found = self._patch(self._objects.parent_tree(commit), self._objects.commit(commit).tree)
            if found in (made, undone):
                return commit if (found == made) == ours else ""
        return ""

    def _find_gained(self, since: str) -> dict[frozenset[str], list[str]]:
        """The commits that the base gained, newest first, by the set of paths that each changes."""
        walk = self._repository.raw.walk(self._new, pygit2.enums.SortMode.TOPOLOGICAL)
        walk.hide(since)
        gained: dict[frozenset[str], list[str]] = defaultdict(list)
        for commit in walk:
            if len(commit.parent_ids) <= 1:
                changed = self._objects.diff(self._objects.parent_tree(str(commit.id)), str(commit.tree_id))
                gained[frozenset(changed)].append(str(commit.id))
        return gained

    def _patch(self, before: str, after: str) -> tuple[object, ...]:
        """What tells a change from others: its patch id, which knows the context but no white space, and its content.

        That is its lines, and of what is binary, or is said to be by an attribute, the blobs.
        """
        self._objects.write_tree({})  # libgit2 does not know the empty tree unless it is there
        old, new = (self._repository.raw[tree].peel(pygit2.Tree) for tree in (before, after))
        diff = new.diff_to_tree(old, swap=True)
        content: list[object] = []
        for patch in diff:
            lines = [line for hunk in (patch.hunks if patch else ()) for line in hunk.lines]
            content += [(line.origin, line.raw_content) for line in lines if line.origin != " "]
            if patch and not lines:
                delta = patch.delta
                content.append((delta.new_file.path, str(delta.old_file.id), str(delta.new_file.id)))
        return (str(diff.patchid), *content)
