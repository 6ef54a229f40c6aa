"""Replay of text answers: git rerere's, but only where they belong, and hunk by hunk where rerere gives up.

An answer belongs to the path it was recorded for, or a rename of it. What comes out must be free of markers,
must parse where its language is known, and must not bring back what a side replaced everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stackmerge import rerere, syntax
from stackmerge.answer import Unresolved, Used
from stackmerge.attributes import PathAttributes
from stackmerge.git import Git
from stackmerge.merge import Conflict, Merged
from stackmerge.mergefile import merge_file
from stackmerge.merger import Merger
from stackmerge.objects import Objects
from stackmerge.rawtree import Entry
from stackmerge.resolution import Text, text_key
from stackmerge.resolutions import Resolutions
from stackmerge.similarity import is_rename
from stackmerge.sweep import brought_back

Answer = tuple[Entry, tuple[Used, ...]]


@dataclass(frozen=True)
class _Place:
    """One conflicted file of the merge of ``head`` into ``below``."""

    conflict: Conflict
    merged: Merged
    there: Entry
    attributes: PathAttributes
    head: str
    below: str

    @property
    def path(self) -> str:
        return self.conflict.path


@dataclass(frozen=True)
class _Refused:
    """Why answers were not applied."""

    reason: str


class TextReplay:
    """Answers the text conflicts of merges from recorded resolutions."""

    def __init__(self, git: Git, objects: Objects, merger: Merger, resolutions: Resolutions) -> None:
        self._git = git
        self._objects = objects
        self._merger = merger
        self._resolutions = resolutions

    def answer(
        self, conflict: Conflict, merged: Merged, attributes: PathAttributes, head: str, below: str
    ) -> Answer | Unresolved:
        """The file that ``conflict`` is resolved to and the answers that did it, or why nothing does."""
        there = self._objects.lookup(merged.tree, conflict.path)
        if there is None or not there.is_file:
            return Unresolved(conflict, "git left no file there")
        written = self._merger.attributes.checked_out(merged.tree)
        data = written.smudged(conflict.path, there.oid, attributes)
        place = _Place(conflict, merged, there, attributes, head, below)
        try:
            parsed = rerere.parse(data, marker_size=attributes.marker_size)
        except rerere.MalformedConflict as error:
            return Unresolved(conflict, f"its markers cannot be told from its content ({error})")
        if parsed is None:
            return Unresolved(conflict, "it is not a text conflict")
        found = self._whole(place, parsed)
        if isinstance(found, _Refused) and parsed.hunks > 1 and not self._resolutions.text(parsed.id):
            found = self._hunk_by_hunk(place, parsed, data) or found
        if isinstance(found, _Refused):
            ids = [parsed.id, *(rerere.hunk_ids(data, marker_size=attributes.marker_size))]
            return Unresolved(conflict, found.reason, tuple(map(text_key, dict.fromkeys(ids))))
        return found

    def _whole(self, place: _Place, parsed: rerere.Conflict) -> Answer | _Refused:
        """Answer the file by what was recorded for all its hunks together, as rerere does."""
        fitting = self._fitting(place, parsed.id, parsed.preimage)
        if isinstance(fitting, _Refused):
            return fitting
        found = self._replay(place, parsed.preimage, fitting, whole=True)
        return found if isinstance(found, _Refused) else self._settled(place, found[0], found[1:])

    def _hunk_by_hunk(self, place: _Place, parsed: rerere.Conflict, data: bytes) -> Answer | _Refused | None:
        """Answer each hunk by what was recorded for it alone; None unless there is an answer for each.

        Other merges may each have met one of the hunks: they were then the only hunk of the file.
        """
        image, texts = parsed.preimage, list[Text]()
        for hunk in rerere.hunk_ids(data, marker_size=place.attributes.marker_size):
            fitting = self._fitting(place, hunk, parsed.preimage)
            if isinstance(fitting, _Refused):
                return None
            found = self._replay(place, image, fitting, whole=False)
            if isinstance(found, _Refused):
                return found
            image, text = found
            texts.append(text)
        trouble = self._trouble(place, image, texts)
        if trouble:
            return _Refused(trouble)
        entry, used = self._settled(place, image, texts)
        return entry, tuple(one._replace(before=text_key(parsed.id)) for one in used)

    def _settled(self, place: _Place, data: bytes, texts: Sequence[Text]) -> Answer:
        side = place.conflict.ours
        ours = self._objects.blob(side.oid) if side and place.attributes.keeps_cr else b""
        written = self._merger.attributes.checked_out(place.merged.tree)
        oid = written.cleaned(place.path, data, place.attributes, ours)
        return Entry(place.there.mode, oid), tuple(self._used(place, text) for text in texts)

    def _used(self, place: _Place, text: Text) -> Used:
        key = text_key(text.id)
        ranked = sorted(text.provenance, key=lambda p: (p.head != place.head, p.path != place.path))
        return Used(place.path, "text", text.id, key, self._resolutions.state(key), ranked[0])

    # -- which answers belong here

    def _fitting(self, place: _Place, conflict_id: str, preimage: bytes) -> list[Text] | _Refused:
        known = self._resolutions.text(conflict_id)
        if not known:
            return _Refused(f"no resolution with id {conflict_id[:12]} is known")
        fitting = [text for text in known if self._belongs(place, text, preimage)]
        if not fitting:
            where = ", ".join(sorted({p.path or "an unknown path" for t in known for p in t.provenance}))
            return _Refused(f"resolution {conflict_id[:12]} was recorded at another path ({where})")
        return fitting

    def _belongs(self, place: _Place, text: Text, preimage: bytes) -> bool:
        """Was this answer recorded at the path, or at one that the path is a rename of?"""
        for provenance in text.provenance:
            if provenance.path == place.path:
                return True
            gone = not provenance.path or self._objects.lookup(place.merged.tree, provenance.path) is None
            if gone and is_rename(self._objects.blob(text.preimage), preimage):
                return True
        return False

    # -- replay

    def _replay(
        self, place: _Place, image: bytes, fitting: Sequence[Text], *, whole: bool
    ) -> tuple[bytes, Text] | _Refused:
        """Try the variants of one id: those recorded for this very merge, for this head, then all in git's order."""
        same = self._objects.write_blob(image)
        exactly = [t for t in fitting if t.preimage == same]
        own = [t for t in fitting if any(p.head == place.head for p in t.provenance)]
        reason = "the replay itself conflicts"
        for group in ([t for t in own if t in exactly], own, exactly, fitting):
            results: dict[bytes, Text] = {}
            for text in group:
                data = self._replay_one(place, image, text)
                trouble = self._trouble(place, data, [text]) if data is not None and whole else None
                if trouble:
                    reason = trouble
                elif data is not None:
                    results.setdefault(data, text)
            if len(results) > 1:
                shown = next(iter(results.values())).id[:12]
                return _Refused(f"two recorded answers disagree: see `stackmerge rerere show {shown}`")
            if results:
                return next(iter(results.items()))
        return _Refused(reason)

    def _replay_one(self, place: _Place, image: bytes, text: Text) -> bytes | None:
        """git's replay: merge the step from preimage to postimage into the new conflict. None if that conflicts."""
        preimage, postimage = self._objects.blob(text.preimage), self._objects.blob(text.postimage)
        if preimage == image:
            return postimage
        if place.attributes.merge in ("unspecified", "set", "text", "union"):
            return merge_file(self._git, preimage, image, postimage, place.attributes)
        return self._replay_with_driver(place, image, text)

    def _replay_with_driver(self, place: _Place, image: bytes, text: Text) -> bytes | None:
        """The same through the path's own merge driver, which only a merge of whole trees starts."""
        blobs = (text.preimage, self._objects.write_blob(image), text.postimage)
        tree = place.merged.tree
        trees = [self._objects.edit(tree, {place.path: Entry(0o100644, oid)}) for oid in blobs]
        result = self._merger.merge_trees(*trees)
        entry = self._objects.lookup(result.tree, place.path)
        return self._objects.blob(entry.oid) if entry and not result.conflicts else None

    # -- what must not be committed

    def _trouble(self, place: _Place, data: bytes, texts: Iterable[Text]) -> str | None:
        """Why a replayed file must not be committed as it is."""
        stages = (place.conflict.base, place.conflict.ours, place.conflict.theirs)
        base, ours, theirs = (self._objects.blob(stage.oid) if stage else b"" for stage in stages)
        sides = (ours, theirs)
        size = place.attributes.marker_size
        if rerere.has_markers(data, marker_size=size) and not any(
            rerere.has_markers(side, marker_size=size) for side in sides
        ):
            return "the recorded answer still holds conflict markers"
        problem = syntax.problem(place.path, data)
        if problem and not any(syntax.problem(place.path, side) for side in sides):
            return f"replayed, {problem}"
        line = None if all(_confirmed(t, place) for t in texts) else brought_back(base, ours, theirs, data)
        return (
            f"the recorded answer brings back {line!r}, which one side replaced everywhere" if line else None
        )


def _confirmed(text: Text, place: _Place) -> bool:
    """Made for this very merge, or more than once, or by hand after we stopped: then it was no oversight."""
    merges = {p.parents for p in text.provenance}
    return (
        (place.below, place.head) in merges
        or len(merges) > 1
        or any(p.source == "hand" for p in text.provenance)
    )
