"""The conflicts of a step as the report shows them: both sides, the answer, and where the answer comes from."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from stackmerge.answer import Used
from stackmerge.merge import Conflict, Merged
from stackmerge.objects import Commit
from stackmerge.rawtree import TREE_MODE, Entry
from stackmerge.record import ConflictRecord, Run, StepRecord
from stackmerge.report.edits import Edit, edits
from stackmerge.report.hunks import hunks
from stackmerge.report.marks import Marked, marked, unmarked
from stackmerge.repository import Repository

_SOURCES = {
    "hand": "by hand",
    "train": "learned from the history",
    "import": "imported from an rr-cache",
    "hazard": "prescribed by a hazard rule",
}
_MODES = {0o100755: "executable ", 0o120000: "symlink ", 0o160000: "submodule "}
_SYMLINK, _SUBMODULE = 0o120000, 0o160000


@dataclass(frozen=True)
class SideView:
    """One side of a conflict that markers cannot show: what it has at the path, and how that differs from the base."""

    label: str
    kind: str
    words: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class AnswerView:
    """What answered: ``how`` in a word, its id, and its origin as names and values."""

    how: str
    id: str
    origin: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ConflictView:
    """One path that a step needed an answer at. Text has ``hunks``, other conflicts ``sides``, a fixup ``edits``."""

    path: str
    kind: str
    reason: str
    where: str
    inside: str
    answers: tuple[AnswerView, ...]
    hunks: tuple[Marked, ...] = ()
    sides: tuple[SideView, ...] = ()
    edits: tuple[Edit, ...] = ()


class Conflicts:
    """Shows the conflicts of the steps of one run. It merges again what conflicted, for the journal keeps no sides."""

    def __init__(self, repository: Repository, run: Run) -> None:
        self._repository = repository
        self._objects = repository.objects
        self._landed = _landed_below(repository, run)

    def of(self, record: StepRecord) -> tuple[ConflictView, ...]:
        """The conflicts of a step, then its fixups."""
        if not (record.conflicts or record.resolutions):
            return ()
        merged = self._merge(record)
        stages = {conflict.path: conflict for conflict in merged.conflicts}
        at = {c.path for c in record.conflicts}
        rest = dict.fromkeys(used.path for used in record.resolutions if used.path not in at)
        return (
            *(self._conflict(record, c, merged, stages.get(c.path)) for c in record.conflicts),
            *(self._fixup(record, path, merged) for path in rest),
        )

    def _merge(self, record: StepRecord) -> Merged:
        """git's own result of the step, as it was before anything answered it."""
        objects, merger = self._objects, self._repository.merger
        below = objects.commit(record.below)
        if record.kind == "pick":
            head = objects.commit(record.head).tree
            return merger.merge_trees(objects.parent_tree(record.head), below.tree, head)
        landed = self._landed[record.name]
        if not landed:
            return merger.merge(record.below, record.head)
        with_landed = Commit(
            below.tree, (record.below, *landed), below.committer, below.committer, "landed\n"
        )
        return merger.merge(objects.write_commit(with_landed), record.head)

    def _conflict(
        self, record: StepRecord, conflict: ConflictRecord, merged: Merged, stages: Conflict | None
    ) -> ConflictView:
        old = self._file(self._objects.lookup(merged.tree, conflict.path))
        new = self._file(self._objects.lookup(record.tree, conflict.path))
        text = stages is not None and stages.is_text and old is not None and new is not None
        shown = unmarked if conflict.reason else marked
        found = tuple(shown(hunk) for hunk in hunks(old or b"", new or b"")) if text else ()
        return ConflictView(
            path=conflict.path,
            kind=conflict.kind,
            reason=conflict.reason,
            where="upstream alone" if conflict.where == "base" else conflict.where,
            inside=conflict.inside,
            answers=_answers(record, conflict.path),
            hunks=found,
            sides=()
            if found or stages is None
            else self._sides(record, stages, answered=not conflict.reason),
        )

    def _fixup(self, record: StepRecord, path: str, merged: Merged) -> ConflictView:
        old = self._file(self._objects.lookup(merged.tree, path))
        new = self._file(self._objects.lookup(record.tree, path))
        changed = edits(old or b"", new or b"") if old is not None or new is not None else ()
        return ConflictView(
            path, "none: the merge was clean", "", "", "", _answers(record, path), edits=changed
        )

    def _sides(self, record: StepRecord, stages: Conflict, *, answered: bool) -> tuple[SideView, ...]:
        found = [
            self._side("the stack below", "ours", stages.ours, stages.base),
            self._side(record.name, "theirs", stages.theirs, stages.base),
        ]
        if answered:
            entry = self._objects.lookup(record.tree, stages.path)
            found.append(self._side("the answer", "answer", entry, stages.base))
        return tuple(found)

    def _side(self, label: str, kind: str, entry: Entry | None, base: Entry | None) -> SideView:
        data, before = self._file(entry), self._file(base)
        changed = edits(before, data) if data is not None and before is not None and data != before else ()
        return SideView(label, kind, self._words(entry, base), changed)

    def _words(self, entry: Entry | None, base: Entry | None) -> str:
        if entry is None:
            return "deleted" if base else "not there"
        if entry == base:
            return "as it was in the merge base"
        kind = _MODES.get(entry.mode, "")
        if entry.mode == TREE_MODE:
            return f"directory, {entry.oid[:12]}"
        if entry.mode == _SUBMODULE:
            return f"{kind}at {entry.oid[:12]}"
        data = self._objects.blob(entry.oid)
        if entry.mode == _SYMLINK:
            return f"{kind}to {data.decode(errors='replace')}"
        if _binary(data):
            return f"{kind}binary file of {len(data):,} bytes, {entry.oid[:12]}"
        return f"{kind}file of {len(data.splitlines()):,} lines, {entry.oid[:12]}"

    def _file(self, entry: Entry | None) -> bytes | None:
        """The content of a text file; None for anything else."""
        if entry is None or not entry.is_file:
            return None
        data = self._objects.blob(entry.oid)
        return None if _binary(data) else data


def _binary(data: bytes) -> bool:
    return b"\0" in data[:8000]  # as git tells


def _landed_below(repository: Repository, run: Run) -> dict[str, tuple[str, ...]]:
    """By step the heads below it that landed as a squash: git merged as if they had been merged (see `Builder`)."""
    landed: list[str] = []
    found = {}
    for record in run.steps:
        found[record.name] = tuple(landed)
        new = record.kind == "merge" and record.head not in landed
        if record.outcome == "landed" and new and not repository.is_ancestor(record.head, run.plan.base):
            landed.append(record.head)
    return found


def _answers(record: StepRecord, path: str) -> tuple[AnswerView, ...]:
    return tuple(_answer(used, record.name) for used in record.resolutions if used.path == path)


def _answer(used: Used, step: str) -> AnswerView:
    return AnswerView(used.kind, used.id[: 25 if used.kind == "fixup" else 12], tuple(_origin(used, step)))


def _origin(used: Used, step: str) -> Iterable[tuple[str, str]]:
    """Who, when and where; a step and a path that are those that it is shown at say nothing."""
    known = used.provenance
    pairs = (
        ("recorded by", known.who),
        ("on", time.strftime("%Y-%m-%d", time.gmtime(known.when)) if known.when else ""),
        ("how", _SOURCES.get(known.source, known.source)),
        ("in step", known.step if known.step != step else ""),
        ("at path", known.path if known.path != used.path else ""),
        ("from commit", known.commit[:12]),
        ("with git", known.git),
        ("because", known.reason),
    )
    return ((name, value) for name, value in pairs if value)
