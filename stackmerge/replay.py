"""Replay: answer the conflicts of a merge from recorded resolutions and policies.

For each conflicted path in order: an exact resolution, a text resolution, a policy; then the step's fixups.
What replays silently must belong there: at its own path or a rename of it, free of markers, and parsing
where its language is known. Everything else stays a conflict, with the reason why nothing replayed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pygit2

from stackmerge import rerere, syntax
from stackmerge.attributes import PathAttributes
from stackmerge.git import Git
from stackmerge.manifest import Policy
from stackmerge.merge import Conflict, Merged, Merger
from stackmerge.objects import TREE_MODE, Entry, Objects
from stackmerge.resolution import Exact, Fixup, Provenance, Resolutions, Text
from stackmerge.similarity import is_rename

# merge-ort moves a file that is in the way of a directory to "<path>~<commit>".
_MOVED = re.compile(r"~[0-9a-f]{40}(_\d+)?$")


@dataclass(frozen=True)
class Used:
    """One resolution that was applied. ``kind``: text, exact, fixup or policy."""

    path: str
    kind: str
    id: str
    key: str = ""
    state: str = ""
    provenance: Provenance = field(default_factory=Provenance)


@dataclass(frozen=True)
class Unresolved:
    """A conflict that stays, why nothing replayed, and the text answers that a person may still want."""

    conflict: Conflict
    reason: str
    offers: tuple[Text, ...] = ()


@dataclass(frozen=True)
class Replayed:
    """What became of a merge: its tree, what was applied and what is left."""

    tree: str
    used: tuple[Used, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()


def settled_path(conflict: Conflict) -> str:
    """The path a conflict is about, without the suffix of a file that git moved out of a directory's way."""
    return _MOVED.sub("", conflict.path)


class Replayer:
    """Applies the resolutions of one cache to merges."""

    def __init__(
        self,
        git: Git,
        objects: Objects,
        merger: Merger,
        resolutions: Resolutions,
        policies: Sequence[Policy] = (),
    ) -> None:
        self._git = git
        self._objects = objects
        self._merger = merger
        self._resolutions = resolutions
        self._policies = policies

    def replay(self, merged: Merged, *, head: str, step: str) -> Replayed:
        """Resolve what can be resolved of ``merged``, which merged commit ``head`` as step ``step``."""
        attributes = self._merger.attributes.of(c.path for c in merged.conflicts if c.is_text)
        changes: dict[str, Entry | None] = {}
        used: list[Used] = []
        unresolved: list[Unresolved] = []
        for conflict in merged.conflicts:
            answer = self._answer(conflict, merged, attributes.get(conflict.path), head)
            if isinstance(answer, Unresolved):
                unresolved.append(answer)
            else:
                entry, how = answer
                used.append(how)
                self._settle(conflict, entry, merged.tree, changes)
        tree = self._objects.edit(merged.tree, changes)
        if unresolved:
            return Replayed(tree, tuple(used), tuple(unresolved))
        fixed = self._fix(tree, self._resolutions.fixups(head, step))
        return Replayed(fixed.tree, (*used, *fixed.used), fixed.unresolved)

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
        self, conflict: Conflict, merged: Merged, attributes: PathAttributes | None, head: str
    ) -> tuple[Entry | None, Used] | Unresolved:
        exact = self._exact(conflict)
        if isinstance(exact, tuple):
            return exact
        text: tuple[Entry, Used] | Unresolved | None = None
        if attributes and conflict.is_text:
            text = self._text(conflict, merged, attributes, head)
            if isinstance(text, tuple):
                return text
        policy = self._policy(conflict)
        if policy is not None:
            return policy
        return text or Unresolved(conflict, exact)

    # -- exact

    def _exact(self, conflict: Conflict) -> tuple[Entry | None, Used] | str:
        """The exact answer to a conflict, or why there is none."""
        path = settled_path(conflict)
        known = self._resolutions.exact(path)
        for exact in known:
            if exact.kind != conflict.kind:
                continue
            if (exact.base, exact.ours, exact.theirs) == (conflict.base, conflict.ours, conflict.theirs):
                return exact.answer, self._used_exact(exact)
            if conflict.kind == "modify/delete":
                carried = self._carry(exact, conflict)
                if carried is not None:
                    return carried[0], self._used_exact(exact)
        return (
            "the recorded answer was to other content" if known else "nothing is recorded for this conflict"
        )

    def _used_exact(self, exact: Exact) -> Used:
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
        merged = self._merge_blobs(then, exact.answer, now)
        return (Entry(now.mode, self._objects.write_blob(merged)),) if merged is not None else None

    def _change(self, base: Entry, side: Entry) -> tuple[object, ...]:
        """The lines that a side removes and adds, without their places."""
        old, new = self._objects.blob(base.oid), self._objects.blob(side.oid)
        patch = pygit2.Patch.create_from(old, new, context_lines=0)
        lines = ((line.origin, line.raw_content) for hunk in patch.hunks for line in hunk.lines)
        binary = side.oid if patch.delta.is_binary else ""
        return (base.mode, side.mode, binary, tuple(lines))

    # -- text

    def _text(
        self, conflict: Conflict, merged: Merged, attributes: PathAttributes, head: str
    ) -> tuple[Entry, Used] | Unresolved:
        there = self._objects.lookup(merged.tree, conflict.path)
        if there is None or not there.is_file:
            return Unresolved(conflict, "git left no file there")
        data = self._merger.attributes.smudged(conflict.path, there.oid, attributes)
        try:
            parsed = rerere.parse(data, marker_size=attributes.marker_size)
        except rerere.MalformedConflict as error:
            return Unresolved(conflict, f"its markers cannot be told from its content ({error})")
        if parsed is None:
            return Unresolved(conflict, "it is not a text conflict")
        known = self._resolutions.text(parsed.id)
        if not known:
            return Unresolved(conflict, f"no resolution with id {parsed.id[:12]} is known")
        fitting = [t for t in known if self._belongs(t, conflict.path, parsed.preimage, merged.tree)]
        if not fitting:
            where = ", ".join(sorted({p.path or "an unknown path" for t in known for p in t.provenance}))
            return Unresolved(
                conflict, f"resolution {parsed.id[:12]} was recorded at another path ({where})", tuple(known)
            )
        return self._replay_text(conflict, parsed, fitting, attributes, there, head, merged)

    def _belongs(self, text: Text, path: str, preimage: bytes, tree: str) -> bool:
        """Was this answer recorded at ``path``, or at one that ``path`` is a rename of?"""
        for provenance in text.provenance:
            if provenance.path == path:
                return True
            gone = not provenance.path or self._objects.lookup(tree, provenance.path) is None
            if gone and is_rename(self._objects.blob(text.preimage), preimage):
                return True
        return False

    def _replay_text(
        self,
        conflict: Conflict,
        parsed: rerere.Conflict,
        fitting: Sequence[Text],
        attributes: PathAttributes,
        there: Entry,
        head: str,
        merged: Merged,
    ) -> tuple[Entry, Used] | Unresolved:
        """Try the variants of one id: those recorded for this very merge, for this head, then all in git's order."""
        exactly = [t for t in fitting if t.preimage == self._objects.write_blob(parsed.preimage)]
        own = [t for t in fitting if any(p.head == head for p in t.provenance)]
        reason = "the replay itself conflicts"
        for group in ([t for t in own if t in exactly], own, exactly, fitting):
            results: dict[bytes, Text] = {}
            for text in group:
                data = self._replay_one(parsed, text, attributes, conflict.path, merged)
                trouble = self._trouble(conflict, data, attributes) if data is not None else None
                if trouble:
                    reason = trouble
                elif data is not None:
                    results.setdefault(data, text)
            if len(results) > 1:
                return Unresolved(conflict, "two recorded answers disagree", tuple(results.values()))
            for data, text in results.items():
                oid = self._merger.attributes.cleaned(conflict.path, data, attributes)
                return Entry(there.mode, oid), self._used_text(conflict.path, text, head)
        return Unresolved(conflict, reason, tuple(fitting))

    def _used_text(self, path: str, text: Text, head: str) -> Used:
        key = f"rr-cache/{text.id}"
        ranked = sorted(text.provenance, key=lambda p: (p.head != head, p.path != path))
        return Used(path, "text", text.id, key, self._resolutions.state(key), ranked[0])

    def _replay_one(
        self, parsed: rerere.Conflict, text: Text, attributes: PathAttributes, path: str, merged: Merged
    ) -> bytes | None:
        """git's replay: merge the step from preimage to postimage into the new conflict. None if that conflicts."""
        preimage, postimage = self._objects.blob(text.preimage), self._objects.blob(text.postimage)
        if preimage == parsed.preimage:
            return postimage
        if attributes.merge in ("unspecified", "set", "text", "union"):
            return merge_file(self._git, preimage, parsed.preimage, postimage, attributes)
        return self._replay_with_driver(parsed.preimage, text, path, merged)

    def _replay_with_driver(self, thisimage: bytes, text: Text, path: str, merged: Merged) -> bytes | None:
        """The same through the path's own merge driver, which only a merge of whole trees starts."""
        blobs = (text.preimage, self._objects.write_blob(thisimage), text.postimage)
        trees = [self._objects.edit(merged.tree, {path: Entry(0o100644, oid)}) for oid in blobs]
        result = self._merger.merge_trees(*trees)
        entry = self._objects.lookup(result.tree, path)
        return self._objects.blob(entry.oid) if entry and not result.conflicts else None

    def _trouble(self, conflict: Conflict, data: bytes, attributes: PathAttributes) -> str | None:
        """Why a replayed file must not be committed as it is."""
        sides = [self._objects.blob(side.oid) for side in (conflict.ours, conflict.theirs) if side]
        size = attributes.marker_size
        if rerere.has_markers(data, marker_size=size) and not any(
            rerere.has_markers(s, marker_size=size) for s in sides
        ):
            return "the recorded answer still holds conflict markers"
        trouble = syntax.problem(conflict.path, data)
        if trouble is None or any(syntax.problem(conflict.path, side) for side in sides):
            return None
        return f"replayed, {trouble}"

    # -- policy and fixups

    def _policy(self, conflict: Conflict) -> tuple[Entry | None, Used] | None:
        for policy in self._policies:
            if policy.covers(conflict.path, conflict.kind):
                sides = {"ours": conflict.ours, "theirs": conflict.theirs, "delete": None}
                return sides[policy.take], Used(conflict.path, "policy", policy.take)
        return None

    def _fix(self, tree: str, fixups: Iterable[Fixup]) -> Replayed:
        """Apply what a clean merge of this head needs all the same."""
        changes: dict[str, Entry | None] = {}
        used: list[Used] = []
        unresolved: list[Unresolved] = []
        for fixup in fixups:
            now = self._objects.lookup(tree, fixup.path)
            if now == fixup.after:
                continue
            fixed = self._fix_one(fixup, now)
            if fixed is None:
                stages = Conflict(fixup.path, "fixup", fixup.before, now, fixup.after)
                unresolved.append(
                    Unresolved(stages, "the recorded fixup does not apply to what is there now")
                )
                continue
            changes[fixup.path] = fixed[0]
            key = f"fixup/{fixup.head}"
            used.append(
                Used(fixup.path, "fixup", fixup.id, key, self._resolutions.state(key), fixup.provenance)
            )
        return Replayed(self._objects.edit(tree, changes), tuple(used), tuple(unresolved))

    def _fix_one(self, fixup: Fixup, now: Entry | None) -> tuple[Entry | None] | None:
        if now == fixup.before:
            return (fixup.after,)
        if not (now and fixup.before and fixup.after):
            return None
        merged = self._merge_blobs(fixup.before, now, fixup.after)
        return (Entry(fixup.after.mode, self._objects.write_blob(merged)),) if merged is not None else None

    def _merge_blobs(self, base: Entry, ours: Entry, theirs: Entry) -> bytes | None:
        if not (base.is_file and ours.is_file and theirs.is_file):
            return None
        base_data, ours_data, theirs_data = (self._objects.blob(e.oid) for e in (base, ours, theirs))
        return merge_file(self._git, base_data, ours_data, theirs_data, PathAttributes())


def merge_file(git: Git, base: bytes, ours: bytes, theirs: bytes, attributes: PathAttributes) -> bytes | None:
    """``git merge-file`` on three contents; None when it conflicts or when one of them is binary."""
    if any(b"\0" in data[:8000] for data in (base, ours, theirs)):
        return None
    with TemporaryDirectory(prefix="stackmerge-merge-") as name:
        files = [Path(name, stage) for stage in ("ours", "base", "theirs")]
        for file, data in zip(files, (ours, base, theirs), strict=True):
            file.write_bytes(data)
        options = ["--union"] if attributes.merge == "union" else []
        options += [f"--marker-size={attributes.marker_size}"]
        names = [str(file) for file in files]
        done = git.run("merge-file", "-p", "-q", *options, "--", *names, ok=range(128))
    return done.stdout if done.returncode == 0 else None
