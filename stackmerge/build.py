"""Build one step: merge or pick it onto the step below, replay, and make its commit. Moves no ref.

The commit is deterministic: author and message are the step's earlier ones, the committer date is the earlier
one or the newest parent's if that is later, and a commit that would come out the same is the earlier commit.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from stackmerge.ancestry import History
from stackmerge.errors import StackmergeError
from stackmerge.hazard.finding import Examined, blocks
from stackmerge.hazarded import Hazards
from stackmerge.manifest import Policy
from stackmerge.merge import Conflict, Merged
from stackmerge.objects import Commit, Person
from stackmerge.plan import PlannedStep
from stackmerge.record import ConflictRecord, StepRecord
from stackmerge.replay import Replayed, Replayer, Unresolved, Used, settled_path
from stackmerge.repository import Repository
from stackmerge.resolution import Provenance
from stackmerge.resolutions import Resolutions

STEP_TRAILER = "Stackmerge-Step:"


class Upcoming(NamedTuple):
    """The step that comes next, and results that may be reused for it."""

    step: PlannedStep
    earlier: Sequence[StepRecord]


class Builder:
    """Builds the steps of one plan in order, each onto the commit below it."""

    def __init__(
        self,
        repository: Repository,
        resolutions: Resolutions,
        policies: Sequence[Policy],
        base: str,
        hazards: Hazards | None = None,
        history: History | None = None,
    ) -> None:
        self._repository = repository
        self._objects = repository.objects
        self._merger = repository.merger
        self._resolutions = resolutions
        self._replayer = Replayer(
            repository.git, repository.objects, repository.merger, resolutions, policies, history
        )
        self._base = base
        self._hazards = hazards
        self._landed_heads: list[str] = []
        self._policies = "\n".join(f"{p.paths} {p.on} {p.take}" for p in policies)

    @cached_property
    def _fixed_inputs(self) -> str:
        settings = self._repository.attributes.settings
        return (
            f"git {self._repository.git.version_text} policies {_digest(self._policies)} settings {settings}"
        )

    def taken_over(self, step: PlannedStep, below: str, earlier: Iterable[StepRecord]) -> StepRecord | None:
        """The result among ``earlier`` whose inputs are all those of ``step`` on commit ``below``, if there is one."""
        started = time.perf_counter()
        record = self._reused(step, below, earlier)
        return self._noted(record, started) if record else None

    def build(
        self, step: PlannedStep, below: str, by_hand: str = "", upcoming: Upcoming | None = None
    ) -> StepRecord:
        """Build ``step`` onto commit ``below``.

        ``by_hand`` is the tree that a person made of the step's conflict; it is the result unless the replay makes
        the same one. The merge of ``upcoming`` is begun as soon as the commit that it stands on is known.
        """
        started = time.perf_counter()
        return self._noted(self._build(step, below, by_hand, upcoming), started)

    def _noted(self, record: StepRecord, started: float) -> StepRecord:
        self._note_landed(record)
        return record._replace(elapsed_s=round(time.perf_counter() - started, 4))

    def _reused(self, step: PlannedStep, below: str, earlier: Iterable[StepRecord]) -> StepRecord | None:
        for old in earlier:
            same = (old.below, old.head, old.kind, old.landed) == (below, step.head, step.kind, step.landed)
            there = same and not old.unresolved and self._repository.has(old.commit)
            if there and old.inputs == self._inputs(step, old.resolutions):
                return old._replace(name=step.name, reused=True)
        return None

    def _inputs(self, step: PlannedStep, used: Iterable[Used]) -> str:
        """A digest of what a result depends on besides the commit below and the head."""
        keys = [key for u in used for key in (u.key, *u.before.split()) if key]
        states = [f"{key} {self._resolutions.state(key)}" for key in keys]
        fixups = [f"{f.id} {f.after and f.after.oid}" for f in self._resolutions.fixups(step.head, step.name)]
        fixups += self._replayer.fixups.met(step.head)
        landed = " ".join(self._landed_heads)
        identity = f"{step.pr} {step.title} {step.notes}"
        rules = [self._hazards.inputs(step)] if self._hazards else []
        return _digest("\n".join([self._fixed_inputs, *states, *fixups, landed, identity, *rules]))

    def _build(self, step: PlannedStep, below: str, by_hand: str, upcoming: Upcoming | None) -> StepRecord:
        if step.landed:
            return self._record(step, below, below, self._tree(below), "landed", landed=step.landed)
        merged = self.merge(step, below)
        replayed = self._replayer.replay(merged, head=step.head, step=step.name, below=below)
        conflicts = _conflict_records(merged, replayed)
        if by_hand and (replayed.unresolved or replayed.tree != by_hand):
            replayed = Replayed(by_hand, (*replayed.used, *_by_hand(replayed.unresolved)))
            conflicts = tuple(c._replace(reason="") for c in conflicts)
        tree = replayed.tree
        if replayed.unresolved:
            record = self._record(step, below, below, tree, "conflict", conflicts, replayed.used)
            return self._with_hazards(record, self.hazards(step, below, None))
        if tree == self._tree(below) and not self._was_empty(step):
            landed = "nothing is left of it on the base" if self._adds_nothing_to_base(step) else ""
            return self._record(
                step, below, below, tree, "landed" if landed else "empty", conflicts, replayed.used, landed
            )
        commit = self._commit(step, below, tree, replayed.used)
        self._begin(upcoming, commit)
        self._refuse_invalid_paths(step, below, tree)
        examined = self.hazards(step, below, tree, (c.path for c in conflicts))
        if blocks(examined.findings):
            record = self._record(step, below, below, tree, "hazard", conflicts, replayed.used)
            return self._with_hazards(record, examined)
        record = self._record(step, below, commit, tree, _outcome(replayed.used), conflicts, replayed.used)
        return self._with_hazards(record, examined)

    def _begin(self, upcoming: Upcoming | None, below: str) -> None:
        """Have git start on the next merge, unless its result is there already."""
        if upcoming is None or upcoming.step.kind != "merge" or upcoming.step.landed:
            return
        if all(old.below != below for old in upcoming.earlier):
            self._merger.begin(self._with_landed(below), upcoming.step.head)

    # -- hazards

    def hazards(
        self, step: PlannedStep, below: str, tree: str | None, conflicts: Iterable[str] = ()
    ) -> Examined:
        """What the rules say of the step on ``below`` with ``tree`` as its result; of its sides where that is None."""
        if self._hazards is None:
            return Examined()
        return self._hazards.examine(step, self._ours(step, below), tree, conflicts)

    def edited(self, step: PlannedStep, below: str, tree: str) -> str:
        """``tree`` after the edits that the rules which block it prescribe. Raises StackmergeError."""
        return self._hazards.edited(step, self._ours(step, below), tree) if self._hazards else tree

    def _ours(self, step: PlannedStep, below: str) -> str:
        return self._with_landed(below) if step.kind == "merge" else below

    def _with_hazards(self, record: StepRecord, examined: Examined) -> StepRecord:
        return record._replace(hazards=examined.findings, rules=examined.matched, gates=examined.gates)

    def _refuse_invalid_paths(self, step: PlannedStep, below: str, tree: str) -> None:
        path = self._objects.invalid_path(self._tree(below), tree)
        if path:
            raise StackmergeError(
                f"{step.name}: the path {path!r} is one that git refuses to check out",
                f"look at {step.head[:12]}, and leave the step out",
            )

    def _record(
        self,
        step: PlannedStep,
        below: str,
        commit: str,
        tree: str,
        outcome: str,
        conflicts: tuple[ConflictRecord, ...] = (),
        used: tuple[Used, ...] = (),
        landed: str = "",
    ) -> StepRecord:
        inputs = self._inputs(step, used)
        return StepRecord(
            step.name, step.kind, step.head, below, commit, tree, outcome, conflicts, used, landed, inputs
        )  # fmt: skip

    def _tree(self, commit: str) -> str:
        return self._objects.commit(commit).tree

    # -- merging

    def merge(self, step: PlannedStep, below: str) -> Merged:
        """git's own result of the step on ``below``, before anything is replayed."""
        if step.kind == "merge":
            return self._merger.merge(self._with_landed(below), step.head)
        if self._objects.commit(step.head).parents == (below,):
            return Merged(self._tree(step.head))
        base = self._objects.parent_tree(step.head)
        return self._merger.merge_trees(base, self._tree(below), self._tree(step.head))

    def _with_landed(self, below: str) -> str:
        """``below`` as if the heads that landed as a squash had been merged, so that git picks the right merge base."""
        if not self._landed_heads:
            return below
        commit = self._objects.commit(below)
        return self._objects.write_commit(
            Commit(commit.tree, (below, *self._landed_heads), commit.committer, commit.committer, "landed\n")
        )

    def _adds_nothing_to_base(self, step: PlannedStep) -> bool:
        merged = self.merge(step, self._base)
        return not merged.conflicts and merged.tree == self._tree(self._base)

    def _was_empty(self, step: PlannedStep) -> bool:
        if not step.earlier:
            return False
        return self._tree(step.earlier) == self._objects.parent_tree(step.earlier)

    def unresolved(self, step: PlannedStep, below: str) -> list[Conflict]:
        """What nothing resolves of the step on ``below``."""
        replayed = self._replayer.replay(self.merge(step, below), head=step.head, step=step.name, below=below)
        return [u.conflict for u in replayed.unresolved]

    def note_landed(self, done: Iterable[StepRecord]) -> None:
        """Tell which steps landed in a part of the rebuild that was made before."""
        for record in done:
            self._note_landed(record)

    def _note_landed(self, record: StepRecord) -> None:
        new = record.kind == "merge" and record.head not in self._landed_heads
        if record.outcome == "landed" and new and not self._repository.is_ancestor(record.head, self._base):
            self._landed_heads.append(record.head)

    def where_it_conflicts(self, step: PlannedStep, path: str, below: Sequence[StepRecord]) -> str:
        """``base`` if the head conflicts at ``path`` with the bare base, else the first step it conflicts with."""
        tree = self._tree(self._base)
        if self._conflicts_at(step, self._base, path):
            return "base"
        for record in below:
            before, tree = tree, record.tree
            if self._objects.lookup(before, path) == self._objects.lookup(tree, path):
                continue
            if self._conflicts_at(step, record.commit, path):
                return record.name
        return ""

    def _conflicts_at(self, step: PlannedStep, below: str, path: str) -> bool:
        return any(settled_path(c) == path for c in self.merge(step, below).conflicts)

    # -- the commit

    def _commit(self, step: PlannedStep, below: str, tree: str, used: Sequence[Used]) -> str:
        parents = (below, step.head) if step.kind == "merge" else (below,)
        earlier_id = step.earlier or (step.head if step.kind == "pick" else "")
        if not earlier_id:
            return self._objects.write_commit(self._new_commit(step, tree, parents, used))
        earlier = self._objects.commit(earlier_id)
        if STEP_TRAILER in earlier.message and step.kind == "merge":
            fresh = self._new_commit(step, tree, parents, used)
            earlier = replace(earlier, message=fresh.message)
            if (earlier.tree, earlier.parents) == (tree, parents):
                return self._objects.write_commit(earlier)
        elif (earlier.tree, earlier.parents) == (tree, parents):
            return earlier_id
        committer = self._later(earlier.committer, parents)
        return self._objects.write_commit(
            replace(earlier.with_parents(parents), tree=tree, committer=committer)
        )

    def _later(self, earlier: Person, parents: Iterable[str]) -> Person:
        newest = max((self._objects.commit(p).committer for p in parents), key=lambda person: person.when)
        if newest.when <= earlier.when:
            return earlier
        return earlier._replace(when=newest.when, zone=newest.zone)

    def _new_commit(
        self, step: PlannedStep, tree: str, parents: tuple[str, ...], used: Sequence[Used]
    ) -> Commit:
        newest = max((self._objects.commit(p).committer for p in parents), key=lambda person: person.when)
        who = newest._replace(who=self._repository.identity())
        return Commit(tree, parents, who, who, _message(step, used))


def _message(step: PlannedStep, used: Sequence[Used]) -> str:
    """The message of a merge that nobody has written one for.

    No ``#``: a forge would link each rebuild's commit from the pull request that it names.
    """
    pull = _quiet(step.pr if "#" in step.pr else f"#{step.pr}")
    number = f" ({pull})" if step.pr else ""
    body = f"\n{_quiet(step.notes.strip())}\n" if step.notes.strip() else ""
    trailers = [f"{STEP_TRAILER} {step.name}"]
    trailers += [f"Upstream-PR: {pull.removeprefix('PR ')}"] if step.pr else []
    trailers += [f"Resolution: {u.kind} {u.id[:12]} {u.path}" for u in used if u.kind != "policy"]
    return f"Merge {_quiet(step.title or step.name)}{number}\n{body}\n" + "\n".join(trailers) + "\n"


def _quiet(text: str) -> str:
    """``#7`` and ``OWNER/REPO#7`` without the sign that makes them a mention."""
    return re.sub(r"#(?=\d)", "PR ", re.sub(r"(?<=\w)#(?=\d)", " PR ", text))


def _outcome(used: Sequence[Used]) -> str:
    kinds = {u.kind for u in used}
    for kind, outcome in (("by hand", "by hand"), ("fixup", "fixup")):
        if kind in kinds:
            return outcome
    return "replayed" if kinds else "clean"


def _conflict_records(merged: Merged, replayed: Replayed) -> tuple[ConflictRecord, ...]:
    reasons = {u.conflict.path: u.reason for u in replayed.unresolved}
    seen = {c.path for c in merged.conflicts}
    more = [u.conflict for u in replayed.unresolved if u.conflict.path not in seen]
    return tuple(
        ConflictRecord(settled_path(c), c.kind, reasons.get(c.path, "")) for c in [*merged.conflicts, *more]
    )


def _by_hand(unresolved: Iterable[Unresolved]) -> list[Used]:
    found = [Used(settled_path(u.conflict), "by hand", "") for u in unresolved]
    return found or [Used("", "by hand", "", provenance=Provenance(source="hand"))]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
