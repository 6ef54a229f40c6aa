"""The rebuilds that led to the state that is described, newest first, and what each changed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from stackmerge import accept
from stackmerge.describe.facts import RebaseNote
from stackmerge.journal import Journal
from stackmerge.libgit2 import pygit2
from stackmerge.record import Run, StepRecord
from stackmerge.replay import Used
from stackmerge.repository import Repository

_SUBJECTS = 8


def history(repository: Repository, journal: Journal, run: Run) -> list[Run]:
    """``run`` and the accepted rebuilds that it came from, newest first; a state gone back from is not among them."""
    states = [
        found for _, oid in accept.accepted_states(repository, run.plan.stack) if (found := journal.read(oid))
    ]
    chain = [run]
    for older in reversed(states):
        newest = chain[-1]
        if (older.plan.base, older.tip) == (newest.plan.base, newest.tip) and older.started == newest.started:
            continue
        if (older.plan.base, older.tip) == (newest.plan.old_base, newest.plan.old_tip):
            chain.append(older)
    return chain


def notes(repository: Repository, chain: Sequence[Run]) -> list[tuple[Run, RebaseNote]]:
    """Every rebuild of the chain that changed the base, with its note, which still lacks the step's head."""
    befores: Sequence[Run | None] = [*chain[1:], None]
    return [
        (run, _note(repository, run, before))
        for run, before in zip(chain, befores, strict=True)
        if run.plan.old_base and run.plan.old_base != run.plan.base
    ]


def seen_from(step: str, found: Sequence[tuple[Run, RebaseNote]]) -> tuple[RebaseNote, ...]:
    """The notes for one step: with the head that it got in each rebuild."""
    return tuple(
        replace(note, head=run.by_name[step].commit if step in run.by_name else "") for run, note in found
    )


def _note(repository: Repository, run: Run, before: Run | None) -> RebaseNote:
    plan = run.plan
    subjects = _gained(repository, plan.old_base, plan.base)
    unchanged, new = _resolutions(run, before)
    moved = _changed(repository, plan.old_base, plan.base)
    differing = _changed(repository, plan.old_tip, run.tip)
    return RebaseNote(
        date=time.strftime("%Y-%m-%d", time.gmtime(run.started)),
        base=plan.base,
        old_base=plan.old_base,
        old_tip=plan.old_tip,
        tip=run.tip,
        commits=len(subjects),
        subjects=tuple(subjects[:_SUBJECTS]),
        unchanged=unchanged,
        new=new,
        base_files=len(moved),
        missing=len(moved - differing),
        more=len(differing - moved),
        explained=_explained(run),
        proof="" if not run.proof else "holds" if run.proof.get("holds") else "failed",
        accepted=run.state in ("accepted", "accepting"),
    )


def _gained(repository: Repository, old: str, new: str) -> list[str]:
    """The subjects of the commits that ``new`` has and ``old`` has not, oldest first, without merges."""
    order = pygit2.enums.SortMode.TOPOLOGICAL | pygit2.enums.SortMode.REVERSE
    walk = repository.raw.walk(new, order)
    walk.hide(old)
    return [repository.objects.commit(str(c.id)).subject for c in walk if len(c.parent_ids) <= 1]


def _resolutions(run: Run, before: Run | None) -> tuple[int, int]:
    """How many resolutions were known before this rebuild, and how many were recorded in it."""
    known = {
        (step.name, used.path, used.id, used.state)
        for step in (before.steps if before else ())
        for used in step.resolutions
    }
    new = [
        (step.name, used.path, used.id, used.state) not in known and _recorded_in(run, step, used)
        for step in run.steps
        for used in step.resolutions
        if used.kind != "policy"
    ]
    return new.count(False), new.count(True)


def _recorded_in(run: Run, step: StepRecord, used: Used) -> bool:
    origin = used.provenance
    if step.reused or used.kind == "by hand":
        return not step.reused
    return origin.source in ("hand", "hazard") and origin.when >= int(run.started)


def _changed(repository: Repository, old: str, new: str) -> frozenset[str]:
    commit = repository.objects.commit
    return frozenset(repository.objects.diff(commit(old).tree, commit(new).tree))


def _explained(run: Run) -> tuple[str, ...]:
    """The steps that explain a difference which the base does not."""
    paths = run.proof.get("paths", ()) if run.proof else ()
    names = {str(path["step"]) for path in paths if path["verdict"] == "explained"}  # type: ignore[attr-defined]
    return tuple(step.name for step in run.plan.steps if step.name in names)
