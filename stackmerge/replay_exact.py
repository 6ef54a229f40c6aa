"""Replay of exact answers: to conflicts that have no markers, such as modify/delete."""

from __future__ import annotations

from stackmerge.answer import Used, settled_path
from stackmerge.attributes import PathAttributes
from stackmerge.git import Git
from stackmerge.libgit2 import pygit2
from stackmerge.merge import Conflict
from stackmerge.mergefile import merge_file
from stackmerge.objects import Objects
from stackmerge.rawtree import Entry
from stackmerge.resolution import Exact
from stackmerge.resolutions import Resolutions


class ExactReplay:
    """Answers conflicts whose three stages are those of a recorded one, or make the same change."""

    def __init__(self, git: Git, objects: Objects, resolutions: Resolutions) -> None:
        self._git = git
        self._objects = objects
        self._resolutions = resolutions

    def answer(self, conflict: Conflict) -> tuple[Entry | None, Used] | str:
        """The exact answer to a conflict, or why there is none."""
        known = self._resolutions.exact(settled_path(conflict))
        for exact in known:
            if exact.kind != conflict.kind:
                continue
            if (exact.base, exact.ours, exact.theirs) == (conflict.base, conflict.ours, conflict.theirs):
                return exact.answer, self._used(exact)
            if conflict.kind == "modify/delete":
                carried = self._carry(exact, conflict)
                if carried is not None:
                    return carried[0], self._used(exact)
        return (
            "the recorded answer was to other content" if known else "nothing is recorded for this conflict"
        )

    def _used(self, exact: Exact) -> Used:
        key = f"exact/{exact.id}"
        return Used(exact.path, "exact", exact.id, key, self._resolutions.state(key), exact.provenance)

    def _carry(self, exact: Exact, conflict: Conflict) -> tuple[Entry | None] | None:
        """The answer to a modify/delete carried to a new base, if the same side makes the same change to it."""
        then, now = exact.ours or exact.theirs, conflict.ours or conflict.theirs
        same_side = bool(exact.ours) == bool(conflict.ours)
        if not (same_side and then and now and exact.base and conflict.base and then.is_file and now.is_file):
            return None
        if self._change(exact.base, then) != self._change(conflict.base, now):
            return None
        if exact.answer is None:
            return (None,)
        if exact.answer == then:
            return (now,)
        if not exact.answer.is_file:
            return None
        base, ours, theirs = (self._objects.blob(entry.oid) for entry in (then, now, exact.answer))
        merged = merge_file(self._git, base, ours, theirs, PathAttributes())
        mode = now.mode if exact.answer.mode == then.mode else exact.answer.mode
        return (Entry(mode, self._objects.write_blob(merged)),) if merged is not None else None

    def _change(self, base: Entry, side: Entry) -> tuple[object, ...]:
        """The lines that a side removes and adds, without their places."""
        old, new = self._objects.blob(base.oid), self._objects.blob(side.oid)
        patch = pygit2.Patch.create_from(old, new, context_lines=0)
        lines = ((line.origin, line.raw_content) for hunk in patch.hunks for line in hunk.lines)
        binary = side.oid if patch.delta.is_binary else ""
        return (base.mode, side.mode, binary, tuple(lines))
