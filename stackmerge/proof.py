"""The proof: the new tip against the old one, path by path (DESIGN.md, decision 7).

What only the base changed must equal the new base, what only the stack changed must equal the old tip, and
what both changed is compared with a merge of old tip and new base that knows nothing of the steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from stackmerge.merge import Merged
from stackmerge.objects import Commit, Objects
from stackmerge.rawtree import Entry
from stackmerge.record import LEFT_OUT, Run, StepRecord
from stackmerge.repository import Repository
from stackmerge.similarity import is_rename

# What each verdict says of a path; those in BAD make a proof fail.
VERDICTS = {
    "base": "only the base changed it; it equals the new base",
    "stack": "only the stack changed it; it equals the old tip",
    "merged": "both changed it; it equals an independent merge of old tip and new base",
    "resolved": "both changed it and the independent merge conflicts; a recorded resolution settled it",
    "explained": "it differs because the stack changed: a step landed, moved, came, went, was resolved or mended anew",
    "differs": "it differs, and nothing in the stack or the base explains it",
    "unproven": "both changed it, the independent merge conflicts, and no resolution is recorded for it",
}
BAD = ("differs", "unproven")


class PathProof(NamedTuple):
    """The verdict on one path, and the step that explains it where one does."""

    path: str
    verdict: str
    step: str = ""


class Proof(NamedTuple):
    """The verdict on every path that the base or the rebuild changed."""

    old_base: str
    old_tip: str
    new_base: str
    new_tip: str
    paths: tuple[PathProof, ...]

    @property
    def holds(self) -> bool:
        return not self.failures

    @property
    def failures(self) -> tuple[PathProof, ...]:
        return tuple(p for p in self.paths if p.verdict in BAD)

    @property
    def counts(self) -> dict[str, int]:
        return dict(Counter(p.verdict for p in self.paths))

    def as_json(self) -> dict[str, object]:
        return {
            **self._asdict(),
            "paths": [path._asdict() for path in self.paths],
            "holds": self.holds,
            "counts": self.counts,
        }


def prove(
    repository: Repository,
    old: tuple[str, str],
    new: tuple[str, str],
    *,
    resolved: Collection[str] = (),
    explained: dict[str, str] | None = None,
) -> Proof:
    """Compare two rebuilds, each given as (base, tip).

    ``resolved`` are the paths that a resolution settled in the new rebuild, ``explained`` the paths that a
    change of the stack itself touches, with the step that does.
    """
    objects = repository.objects
    trees = [objects.commit(oid).tree for oid in (*old, *new)]
    base_changed = objects.diff(trees[0], trees[2])
    tip_changed = objects.diff(trees[1], trees[3])
    independent = (
        None if trees[0] == trees[2] else repository.merger.merge_trees(trees[0], trees[2], trees[1])
    )
    judge = _Judge(repository, trees, independent, frozenset(resolved), explained or {})
    paths = tuple(judge.path(path) for path in sorted(base_changed.keys() | tip_changed.keys()))
    return Proof(*old, *new, paths)


class _Judge:
    def __init__(
        self,
        repository: Repository,
        trees: list[str],
        independent: Merged | None,
        resolved: frozenset[str],
        explained: dict[str, str],
    ) -> None:
        self._objects = repository.objects
        self._old_base, self._old_tip, self._new_base, self._new_tip = trees
        self._independent = independent
        self._conflicted = {c.path for c in independent.conflicts} if independent else set()
        self._resolved = resolved
        self._explained = explained

    def path(self, path: str) -> PathProof:
        at = self._objects.lookup
        before, old = at(self._old_base, path), at(self._old_tip, path)
        base, new = at(self._new_base, path), at(self._new_tip, path)
        verdict = self._verdict(path, before, old, base, new)
        if verdict in BAD and path in self._explained:
            return PathProof(path, "explained", self._explained[path])
        return PathProof(path, verdict)

    def _verdict(
        self, path: str, before: Entry | None, old: Entry | None, base: Entry | None, new: Entry | None
    ) -> str:
        if before == base and new == old:
            return "stack"
        if before == old and new == base:
            return "base"
        if path in self._conflicted:
            return "resolved" if path in self._resolved else "unproven"
        if self._independent and new == self._objects.lookup(self._independent.tree, path):
            return "merged"
        return "resolved" if path in self._resolved and before not in (base, old) else "differs"


def prove_run(repository: Repository, old: Run, new: Run) -> Proof:
    """The proof of a rebuild against the last accepted one."""
    resolved = {used.path for step in new.steps for used in step.resolutions}
    explained = _explained(repository, old, new)
    sides = (
        (_upstream_in(repository, old, new.plan.base), old.tip),
        (_upstream_in(repository, new, old.plan.base), new.tip),
    )
    proof = prove(repository, *sides, resolved=resolved, explained=explained)
    if not proof.holds and (moved := _moved(repository.objects, new)):
        proof = prove(repository, *sides, resolved=resolved | moved, explained=explained)
    return proof._replace(old_base=old.plan.base, new_base=new.plan.base)


def _moved(objects: Objects, run: Run) -> set[str]:
    """Where later steps moved the files that a resolution settled: the tip shows them there."""
    settled: set[str] = set()
    found: set[str] = set()
    for record in run.steps:
        if record.outcome in LEFT_OUT:
            continue
        below = objects.commit(record.below).tree
        gone = {path for path in settled if objects.lookup(record.tree, path) is None}
        here = {path: entry for path in gone if (entry := objects.lookup(below, path)) and entry.is_file}
        pairs = objects.diff(below, record.tree).items() if here else ()
        new = {path: entry for path, (was, entry) in pairs if was is None and entry and entry.is_file}
        blobs = [objects.blob(entry.oid) for entry in here.values()]
        moved = {p for p, e in new.items() if any(is_rename(blob, objects.blob(e.oid)) for blob in blobs)}
        found |= moved
        settled = (settled - gone) | moved | {used.path for used in record.resolutions}
    return found


def _upstream_in(repository: Repository, run: Run, other: str) -> str:
    """The base of a run with what its heads bring of the ``other`` base: a head may be forked from a newer upstream."""
    base = run.plan.base
    if base == other:
        return base
    heads = [r.head for r in run.steps if r.kind == "merge" and r.outcome not in LEFT_OUT]
    repository.learn_merge_bases(heads, other)
    brought = [commit for head in heads if (commit := repository.merge_base(head, other))]
    repository.learn_merge_bases(brought, base)
    for commit in dict.fromkeys(brought):
        if not repository.is_ancestor(commit, run.plan.base):
            base = _joined(repository, base, commit)
    return base


def _joined(repository: Repository, one: str, other: str) -> str:
    """The commit that holds two commits of the upstream; the first alone where git cannot merge them."""
    if repository.is_ancestor(other, one):
        return one
    if repository.is_ancestor(one, other):
        return other
    merged = repository.merger.merge(one, other)
    if merged.conflicts:
        return one
    who = repository.objects.commit(one).committer
    return repository.objects.write_commit(Commit(merged.tree, (one, other), who, who, "upstream\n"))


def _explained(repository: Repository, old: Run, new: Run) -> dict[str, str]:
    """The paths touched by every step that is in one run and not in the other, or has another head there.

    And those that a step which is the same in both has another answer for, or a fixup by hand.
    """
    before, after = old.by_name, new.by_name
    order = [name for name in before if name in after] != [name for name in after if name in before]
    found: dict[str, str] = {}
    for name in before.keys() | after.keys():
        a, b = before.get(name), after.get(name)
        if a and b:
            found |= dict.fromkeys([*_answered_anew(a, b), *_mended(a, b, old.started)], name)
        same = a and b and a.head == b.head and (a.outcome in LEFT_OUT) == (b.outcome in LEFT_OUT)
        if same and not order and b and b.outcome != "by hand":
            continue
        for record in (a, b):
            if record and record.outcome not in LEFT_OUT:
                below = repository.objects.commit(record.below).tree
                found |= dict.fromkeys(repository.objects.diff(below, record.tree), name)
    return found


def _answered_anew(old: StepRecord, new: StepRecord) -> list[str]:
    """The paths whose conflict is the same and whose recorded answer was changed since."""
    before = {(used.path, used.id): used.state for used in old.resolutions}
    return [u.path for u in new.resolutions if before.get((u.path, u.id), u.state) != u.state]


def _mended(old: StepRecord, new: StepRecord, since: float) -> list[str]:
    """The paths that a person has fixed by hand since the old rebuild, which had no fixup there."""
    before = {(used.path, used.id) for used in old.resolutions}
    return [
        used.path
        for used in new.resolutions
        if used.kind == "fixup" and used.provenance.source == "hand"
        if used.provenance.when >= int(since) and (used.path, used.id) not in before
    ]


def summary(proof: Proof) -> Iterable[str]:
    """The proof in a few lines of text."""
    for verdict, count in sorted(proof.counts.items()):
        yield f"{count:6} {verdict:10} {VERDICTS[verdict]}"
