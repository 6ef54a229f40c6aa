"""Gather what the description of a step says: from the journal, and from the objects that it names."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version

from stackmerge.describe import changes, measured, rebases
from stackmerge.describe.facts import (
    ConflictFact,
    HazardFact,
    MergedFact,
    RebaseNote,
    StackEntry,
    StepFacts,
    Upstream,
)
from stackmerge.errors import UsageError
from stackmerge.gate.outcome import FAILED, TIMED_OUT, GateResult, tail
from stackmerge.plan import PlannedStep
from stackmerge.publishing import Publishing
from stackmerge.record import LEFT_OUT, Run, StepRecord
from stackmerge.replay import Used
from stackmerge.repository import Repository
from stackmerge.resolutions import Resolutions

_HOW = {
    "text": "replayed text",
    "exact": "exact",
    "fixup": "fixup",
    "policy": "policy",
    "by hand": "by hand",
}
_SOURCES = {"hand": "by hand", "train": "learned from the history", "import": "imported from an rr-cache"}
_PLACE = re.compile(r"^((?:[\w-]+=)?)/[^\s'\"<>]*/([^/\s'\"<>]+)$")
_MARKER = re.compile(rb"^<{7,}(?: .*)?\r?$", re.MULTILINE)


class Gatherer:
    """Gathers the facts of the steps of one rebuild.

    ``chain`` is that rebuild and those before it, newest first; ``numbers`` are the pull requests by step, looked
    up anew each time.
    """

    def __init__(
        self, repository: Repository, chain: Sequence[Run], settings: Publishing, numbers: Mapping[str, int]
    ) -> None:
        self._repository = repository
        self._chain = chain
        self._run = chain[0]
        self._settings = settings
        self._numbers = numbers
        self._known: dict[str, StepFacts] = {}

    @property
    def names(self) -> list[str]:
        """The steps that can be described: those that the journal tells the outcome of."""
        return [step.name for step in self._run.steps]

    @cached_property
    def _resolutions(self) -> Resolutions:
        return self._repository.resolutions()

    @cached_property
    def _notes(self) -> list[tuple[Run, RebaseNote]]:
        return rebases.notes(self._repository, self._chain)

    def step(self, name: str) -> StepFacts:
        """The facts of one step. Raises UsageError for one that is not in the journal."""
        if name not in self._known:
            self._known[name] = self._facts(name)
        below = self._known[name].below
        number = self._numbers.get(below) if below else None
        return replace(self._known[name], below_number=number, entries=self._entries(name))

    def _facts(self, name: str) -> StepFacts:
        """What is the same whatever the pull requests' numbers are."""
        record = self._run.by_name.get(name)
        if record is None:
            raise UsageError(f"the journal knows no step {name!r}", "see `stackmerge status`")
        planned = self._run.planned(name)
        below = self._below(record)
        gates = tuple(_portable(result) for result in self._run.gates if result.step == name)
        benches = measured.benches(self._chain, name)
        return StepFacts(
            stack=self._run.plan.stack,
            step=name,
            position=self.names.index(name) + 1,
            count=len(self._run.plan.steps),
            base=self._run.plan.base,
            trunk=self._settings.trunk,
            upstream_branch=self._settings.upstream_branch,
            below=below.name if below else "",
            below_number=None,
            merged=self._merged(planned, record),
            notes=planned.notes,
            landed=record.landed,
            conflicts=self._conflicts(record),
            hazards=_hazards(record),
            gates=gates,
            logs=_logs(gates),
            benchmarks=measured.table(benches, record),
            environment=measured.environment(gates, benches),
            how_to_test=self._settings.how_to_test,
            rebases=rebases.seen_from(name, self._notes),
            version=version("stackmerge"),
        )

    def _below(self, record: StepRecord) -> StepRecord | None:
        """The nearest step below that has a branch of its own to stand on."""
        at = self.names.index(record.name)
        for step in reversed(self._run.steps[:at]):
            if step.outcome not in LEFT_OUT and self._run.planned(step.name).branch:
                return step
        return None

    def _merged(self, planned: PlannedStep, record: StepRecord) -> MergedFact:
        commits = changes.commits(self._repository, record)
        files = changes.files(self._repository, record)
        authors = tuple(dict.fromkeys(commit.author for commit in commits))
        title = planned.title or (commits[0].subject if len(commits) == 1 else planned.name)
        return MergedFact(
            kind=planned.kind,
            head=planned.head,
            title=title,
            upstream=self._upstream(planned),
            authors=authors,
            commits=tuple(commits[: changes.SHOWN]),
            commit_count=len(commits),
            files=tuple(files[: changes.SHOWN]),
            file_count=len(files),
            added=sum(file.added or 0 for file in files),
            removed=sum(file.removed or 0 for file in files),
        )

    def _upstream(self, planned: PlannedStep) -> Upstream | None:
        if not planned.pr:
            return None
        repository, _, number = planned.pr.rpartition("#")
        return Upstream(number, repository or self._settings.upstream)

    # -- conflicts

    def _conflicts(self, record: StepRecord) -> tuple[ConflictFact, ...]:
        used = {one.path: one for one in record.resolutions}
        found = [self._conflict(c.path, c.kind, c.reason, used.pop(c.path, None)) for c in record.conflicts]
        rest = [self._conflict(path, "none: the merge was clean", "", one) for path, one in used.items()]
        return (*found, *rest)

    def _conflict(self, path: str, kind: str, reason: str, used: Used | None) -> ConflictFact:
        if used is None:
            return ConflictFact(path, kind, None, "unresolved" if reason else "git's own", reason=reason)
        how = _HOW.get(used.kind, used.kind) + (f": take {used.id}" if used.kind == "policy" else "")
        shown = used.id[:12] if used.kind in ("text", "exact") else ""
        hunks = self._hunks(used) if used.kind == "text" else None
        return ConflictFact(
            path or "(the whole step)", kind, hunks, how, shown, used.provenance.reason, _recorded(used)
        )

    def _hunks(self, used: Used) -> int | None:
        """The conflicts in a text resolution; None where it has been forgotten since."""
        known = self._resolutions.text(used.id)
        return len(_MARKER.findall(self._repository.objects.blob(known[0].preimage))) if known else None

    def _entries(self, current: str) -> tuple[StackEntry, ...]:
        records = self._run.by_name
        return tuple(
            StackEntry(
                name=step.name,
                title=step.title,
                number=self._numbers.get(step.name),
                outcome=records[step.name].outcome if step.name in records else "not made",
                landed=records[step.name].landed if step.name in records else "",
                current=step.name == current,
            )
            for step in self._run.plan.steps
        )


def _recorded(used: Used) -> str:
    """Where an answer comes from, in words."""
    origin = used.provenance
    words = [_SOURCES.get(origin.source, origin.source)]
    words += [f"by {origin.who.partition(' <')[0]}"] if origin.who and origin.source == "hand" else []
    words += [time.strftime("on %Y-%m-%d", time.gmtime(origin.when))] if origin.when else []
    words += [f"in step {origin.step}"] if origin.step else []
    return " ".join(word for word in words if word).replace("by hand by ", "by ")


def _hazards(record: StepRecord) -> tuple[HazardFact, ...]:
    return tuple(
        HazardFact(f.rule, f.severity, f.title, f.path, tuple(f.lines), f.disposition, f.reason, f.hint)
        for f in record.hazards
    )


def _portable(gate: GateResult) -> GateResult:
    """The result without the places of this machine in its command."""
    return gate._replace(command=tuple(_PLACE.sub(r"\1\2", word) for word in gate.command))


def _logs(gates: Iterable[GateResult]) -> tuple[tuple[str, str], ...]:
    """The end of the log of each gate that failed, as far as it is still there."""
    failed = [gate for gate in gates if gate.outcome in (FAILED, TIMED_OUT)]
    return tuple(
        (gate.gate, "\n".join(line[:500] for line in lines)) for gate in failed if (lines := tail(gate.log))
    )
