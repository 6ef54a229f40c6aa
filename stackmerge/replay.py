"""Replay: answer the conflicts of a merge from recorded resolutions and policies.

For each conflicted path in order: an exact resolution, a text resolution, a policy; then the step's fixups.
Everything that nothing answers stays a conflict, with the reason why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from stackmerge.ancestry import History
from stackmerge.answer import Replayed, Unresolved, Used, settled_path
from stackmerge.attributes import PathAttributes
from stackmerge.fixup import Fixups
from stackmerge.git import Git
from stackmerge.manifest import Policy
from stackmerge.merge import Conflict, Merged
from stackmerge.merger import Merger
from stackmerge.objects import Objects
from stackmerge.rawtree import TREE_MODE, Entry
from stackmerge.replay_exact import ExactReplay
from stackmerge.resolution import exact_key
from stackmerge.resolutions import Resolutions

if TYPE_CHECKING:
    from stackmerge.replay_text import TextReplay

__all__ = ["Replayed", "Replayer", "Unresolved", "Used", "settled_path"]

Answer = tuple[Entry | None, tuple[Used, ...]]


class Replayer:
    """Applies the resolutions of one cache to merges."""

    def __init__(
        self,
        git: Git,
        objects: Objects,
        merger: Merger,
        resolutions: Resolutions,
        policies: Sequence[Policy] = (),
        history: History | None = None,
    ) -> None:
        self._git = git
        self._objects = objects
        self._merger = merger
        self._resolutions = resolutions
        self._policies = policies
        self._exact = ExactReplay(git, objects, resolutions)
        self.fixups = Fixups(git, objects, resolutions, history)

    @cached_property
    def _text(self) -> TextReplay:
        from stackmerge.replay_text import TextReplay  # most merges have no conflict

        return TextReplay(self._git, self._objects, self._merger, self._resolutions)

    def replay(self, merged: Merged, *, head: str, step: str, below: str = "") -> Replayed:
        """Resolve what can be resolved of ``merged``, which merged ``head`` into ``below`` as step ``step``.

        Without ``below``, what depends on the history below is not looked at.
        """
        texts = [conflict.path for conflict in merged.conflicts if conflict.is_text]
        attributes = self._merger.attributes.checked_out(merged.tree).of(texts) if texts else {}
        changes: dict[str, Entry | None] = {}
        used: list[Used] = []
        unresolved: list[Unresolved] = []
        for conflict in merged.conflicts:
            answer = self._answer(conflict, merged, attributes.get(conflict.path), head, below)
            if isinstance(answer, Unresolved):
                unresolved.append(answer)
            else:
                entry, how = answer
                used += how
                if conflict.staged:
                    self._settle(conflict, entry, merged.tree, changes)
        tree = self._objects.edit(merged.tree, changes)
        open_paths = {settled_path(one.conflict) for one in unresolved}
        fixed = self.fixups.apply(tree, head, step, below, without=open_paths)
        left = tuple(self._with_fixup(one, head, step) for one in unresolved)
        return Replayed(fixed.tree, (*used, *fixed.used), (*left, *fixed.unresolved))

    def _with_fixup(self, unresolved: Unresolved, head: str, step: str) -> Unresolved:
        """Say so where a fixup waits for what a person makes of a conflict: it cannot be made between markers."""
        path = settled_path(unresolved.conflict)
        if all(fixup.path != path for fixup in self._resolutions.fixups(head, step)):
            return unresolved
        return replace(unresolved, reason=f"{unresolved.reason}, and its recorded fixup must be made again")

    def _settle(
        self, conflict: Conflict, entry: Entry | None, tree: str, changes: dict[str, Entry | None]
    ) -> None:
        path = settled_path(conflict)
        if path != conflict.path:
            changes[conflict.path] = None
        there = self._objects.lookup(tree, path)
        if entry or not (there and there.mode == TREE_MODE):
            changes[path] = entry

    def _answer(
        self, conflict: Conflict, merged: Merged, attributes: PathAttributes | None, head: str, below: str
    ) -> Answer | Unresolved:
        exact = self._exact.answer(conflict)
        if isinstance(exact, tuple):
            return exact[0], (exact[1],)
        keys = [exact_key(settled_path(conflict))]
        text: Answer | Unresolved | None = None
        if attributes and conflict.is_text:
            text = self._text.answer(conflict, merged, attributes, head, below)
            if isinstance(text, tuple):
                return text[0], tuple(_after(keys, used) for used in text[1])
            keys += text.keys
        policy = self._policy(conflict)
        if policy is not None:
            return policy[0], tuple(_after(keys, used) for used in policy[1])
        return text or Unresolved(conflict, exact)

    def _policy(self, conflict: Conflict) -> Answer | None:
        for policy in self._policies if conflict.staged else ():
            if policy.covers(conflict.path, conflict.kind):
                sides = {"ours": conflict.ours, "theirs": conflict.theirs, "delete": None}
                return sides[policy.take], (Used(conflict.path, "policy", policy.take),)
        return None


def _after(keys: Iterable[str], used: Used) -> Used:
    """``used``, knowing where answers that come before it are stored."""
    return used._replace(before=" ".join([*keys, *used.before.split()]))
