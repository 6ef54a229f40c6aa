"""Fixups: what a merge needs although git made it cleanly, applied where it belongs and nowhere else.

The fixups of one merge are one change. They are made again when their head is merged, left out when a file
that they fix came with commits that are not here, and otherwise a person is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from stackmerge.ancestry import History
from stackmerge.answer import Replayed, Unresolved, Used
from stackmerge.attributes import PathAttributes
from stackmerge.git import Git
from stackmerge.merge import Conflict
from stackmerge.mergefile import merge_file
from stackmerge.objects import Objects
from stackmerge.rawtree import Entry
from stackmerge.resolution import Fixup
from stackmerge.resolutions import Resolutions


class Fixups:
    """Applies the fixups of one cache to merged trees."""

    def __init__(
        self, git: Git, objects: Objects, resolutions: Resolutions, history: History | None = None
    ) -> None:
        self._git = git
        self._objects = objects
        self._resolutions = resolutions
        self._history = history or History(git)

    def apply(self, tree: str, head: str, step: str, below: str, without: Collection[str] = ()) -> Replayed:
        """Make again in ``tree`` what was fixed by hand when ``head`` was merged before, but ``without`` some paths."""
        own = self._resolutions.fixups(head, step)
        used: list[Used] = []
        unresolved: list[Unresolved] = []
        for group in _by_merge(own):
            if group[0].head != head and below and self._history.holds(below, group[0].head):
                continue  # an earlier head of the step is below already, and what it needed with it
            found = self._apply_group(tree, [one for one in group if one.path not in without], below)
            tree = found.tree
            used += found.used
            unresolved += found.unresolved
        if not unresolved and below:
            settled = {*without, *(fixup.path for fixup in own)}
            unresolved = self._of_the_other_order(tree, head, below, settled)
        return Replayed(tree, tuple(used), tuple(unresolved))

    def met(self, head: str) -> list[str]:
        """The ids of the fixups of other heads that were merged onto ``head``: below it, they may be in question."""
        groups = [g for g in self._resolutions.fixups_by_merge() if g[0].head != head and _stood_on(g[0])]
        return [f.id for group in groups if self._history.holds(_stood_on(group[0]), head) for f in group]

    def _apply_group(self, tree: str, group: Iterable[Fixup], below: str) -> Replayed:
        changes: dict[str, Entry | None] = {}
        used: list[Used] = []
        unresolved: list[Unresolved] = []
        for fixup in group:
            now = self._objects.lookup(tree, fixup.path)
            if now == fixup.after:
                continue
            fixed = self._fix(fixup, now)
            if fixed is not None:
                changes[fixup.path] = fixed[0]
                used.append(self._used(fixup))
            elif now is None and self._came_with_others(fixup, below):
                return Replayed(tree)
            else:
                reason = "the recorded fixup does not apply to what is there now"
                unresolved.append(_unresolved(fixup, now, reason))
        return Replayed(self._objects.edit(tree, changes), tuple(used), tuple(unresolved))

    def _used(self, fixup: Fixup) -> Used:
        key = f"fixup/{fixup.head}"
        return Used(fixup.path, "fixup", fixup.id, key, self._resolutions.state(key), fixup.provenance)

    def _fix(self, fixup: Fixup, now: Entry | None) -> tuple[Entry | None] | None:
        if now == fixup.before:
            return (fixup.after,)
        stages = (fixup.before, now, fixup.after)
        contents = [self._objects.blob(stage.oid) for stage in stages if stage and stage.is_file]
        if fixup.before is None or now is None or fixup.after is None or len(contents) < len(stages):
            return None
        merged = merge_file(self._git, contents[0], contents[1], contents[2], PathAttributes())
        mode = now.mode if fixup.before.mode == fixup.after.mode else fixup.after.mode
        return (Entry(mode, self._objects.write_blob(merged)),) if merged is not None else None

    def _came_with_others(self, fixup: Fixup, below: str) -> bool:
        """Did the file come with what was below then and is not below now, rather than go away since?"""
        then = fixup.provenance.parents[:1]
        if not (fixup.before and then and below):
            return False
        done = self._git.run("merge-base", *then, below, ok=(0, 1, 128))
        shared = done.stdout.decode().strip()
        return bool(shared) and self._objects.lookup(self._objects.commit(shared).tree, fixup.path) is None

    # -- two heads that met before

    def _of_the_other_order(self, tree: str, head: str, below: str, settled: set[str]) -> list[Unresolved]:
        """What was fixed when a head that is below was merged onto this one, and is not fixed here.

        Whether it was this pair that needed the fix, or something else that was below, nothing tells.
        """
        found: list[Unresolved] = []
        for group in self._resolutions.fixups_by_merge():
            if group[0].head == head or not self._met(group[0], head, below):
                continue
            pending = [f for f in group if f.path not in settled and self._is_pending(f, tree)]
            if pending:
                one = pending[0].provenance
                merge = f"merge {one.commit[:12]}" if one.commit else "a merge"
                where = f"{merge} of {one.step or pending[0].head[:12]} onto this head"
                reason = f"{where} was fixed by hand; here they meet the other way round: is the fix needed?"
                found += [_unresolved(fixup, fixup.before, reason) for fixup in pending]
        return found

    def _is_pending(self, fixup: Fixup, tree: str) -> bool:
        unfixed = fixup.before is not None and fixup.before != fixup.after
        return unfixed and self._objects.lookup(tree, fixup.path) == fixup.before

    def _met(self, fixup: Fixup, head: str, below: str) -> bool:
        """Was ``head`` below the fixup's merge then, and is that merge's head below now?"""
        then, holds = _stood_on(fixup), self._history.holds
        return bool(then) and holds(below, fixup.head) and holds(then, head)


def _stood_on(fixup: Fixup) -> str:
    """What the merge was made onto that needed the fixup; empty where nobody knows."""
    return fixup.provenance.parents[0] if fixup.provenance.parents else ""


def _by_merge(fixups: Iterable[Fixup]) -> list[list[Fixup]]:
    groups: dict[Sequence[str], list[Fixup]] = defaultdict(list)
    for fixup in fixups:
        groups[fixup.provenance.parents].append(fixup)
    return list(groups.values())


def _unresolved(fixup: Fixup, now: Entry | None, reason: str) -> Unresolved:
    return Unresolved(Conflict(fixup.path, "fixup", fixup.before, now, fixup.after), reason)
