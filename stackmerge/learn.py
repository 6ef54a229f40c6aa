"""Learn what was made of a merge: record the difference between git's merge and the result that stands."""

from __future__ import annotations

from collections.abc import Sequence

from stackmerge import rerere
from stackmerge.merge import Conflict, Merged
from stackmerge.rawtree import COMMIT_MODE, TREE_MODE, Entry
from stackmerge.replay import Replayed, Replayer, settled_path
from stackmerge.repository import Repository
from stackmerge.resolution import Exact, Fixup, Provenance, Resolution
from stackmerge.resolutions import Resolutions


def learn(
    repository: Repository, resolutions: Resolutions, merged: Merged, result: str, provenance: Provenance
) -> Sequence[Resolution]:
    """Record in ``resolutions`` how tree ``result`` was made of ``merged``; what was new.

    A text conflict becomes a text resolution, every other an exact one. What then still differs from the
    result, in a merge that git made cleanly or beside the conflicts, becomes fixups of the head.
    """
    known = len(resolutions.added)
    for conflict in merged.conflicts:
        _learn_conflict(repository, resolutions, merged, conflict, result, provenance)
    replayer = Replayer(repository.git, repository.objects, repository.merger, resolutions)
    below = provenance.parents[0] if provenance.parents else ""
    replayed = replayer.replay(merged, head=provenance.head, step="", below=below)
    left = {settled_path(u.conflict) for u in replayed.unresolved if u.conflict.kind != "fixup"}
    changed = repository.objects.diff(replayed.tree, result)
    left_alone = _asked_about(replayed) - changed.keys()
    for path, (made, wanted) in changed.items():
        if path not in left:
            before_fixup = _without_fixup(resolutions, provenance.head, path, made)
            resolutions.add_fixup(
                Fixup(path, provenance.head, before_fixup, wanted, provenance._replace(path=path))
            )
    for path in left_alone:
        there = repository.objects.lookup(result, path)
        resolutions.add_fixup(Fixup(path, provenance.head, there, there, provenance._replace(path=path)))
    return resolutions.added[known:]


def _asked_about(replayed: Replayed) -> set[str]:
    """The paths where a fixup was in question; that none was made is an answer too."""
    return {u.conflict.path for u in replayed.unresolved if u.conflict.kind == "fixup"}


def _without_fixup(resolutions: Resolutions, head: str, path: str, made: Entry | None) -> Entry | None:
    """A fixup that was recorded before has been applied to ``made``: what was there without it."""
    for fixup in resolutions.fixups(head, ""):
        if fixup.path == path and fixup.after == made:
            return fixup.before
    return made


def _learn_conflict(
    repository: Repository,
    resolutions: Resolutions,
    merged: Merged,
    conflict: Conflict,
    result: str,
    provenance: Provenance,
) -> None:
    objects, path = repository.objects, settled_path(conflict)
    answer = objects.lookup(result, path) if conflict.staged else None
    if answer and answer.mode == TREE_MODE:
        answer = None
    provenance = provenance._replace(path=path)
    if answer and answer.is_file and conflict.is_text:
        images = _images(repository, merged, conflict, answer)
        if images:
            if provenance.source in ("hand", "hazard"):  # it corrects what the step was answered with before
                named = (images[0], path, provenance.step, provenance.head)
                resolutions.forget_text_of(*named, images[1:])
            resolutions.add_text(*images, provenance)
            return
    resolutions.add_exact(
        Exact(path, conflict.kind, conflict.base, conflict.ours, conflict.theirs, answer, provenance)
    )


def _images(
    repository: Repository, merged: Merged, conflict: Conflict, answer: Entry
) -> tuple[str, bytes, bytes] | None:
    """The rerere id, preimage and postimage of an answer; None where rerere would record nothing."""
    there = repository.objects.lookup(merged.tree, conflict.path)
    if there is None or there.mode == COMMIT_MODE:
        return None
    written = repository.attributes.checked_out(merged.tree)
    attributes = written.of([conflict.path])[conflict.path]
    data = written.smudged(conflict.path, there.oid, attributes)
    postimage = written.smudged(conflict.path, answer.oid, attributes)
    try:
        parsed = rerere.parse(data, marker_size=attributes.marker_size)
        settled = rerere.parse(postimage, marker_size=attributes.marker_size) is None
    except rerere.MalformedConflict:
        return None
    return (parsed.id, parsed.preimage, postimage) if parsed and settled else None
