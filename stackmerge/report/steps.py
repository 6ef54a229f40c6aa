"""One step of the stack as the report shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stackmerge.gate.outcome import GateResult
from stackmerge.hazard.finding import FOUND, NOT_CHECKED, Finding
from stackmerge.plan import PlannedStep
from stackmerge.record import LEFT_OUT, STOPPED, Run, StepRecord
from stackmerge.report.conflicts import Conflicts, ConflictView
from stackmerge.report.gates import Gates, GateView
from stackmerge.repository import Repository

KEPT, REPLACED, ADDED = "kept", "replaced", "new"
_WORDS = {"hazard": "blocked"}
_SEVERITIES = {"block": ("blocks", "bad"), "warn": ("warning", "waiting"), "note": ("note", "soft")}


@dataclass(frozen=True)
class Tag:
    """A few words beside a step's name, and their mood."""

    words: str
    mood: str


@dataclass(frozen=True)
class HazardView:
    """One finding: what it does in a word, and its mood."""

    finding: Finding
    word: str
    mood: str

    @property
    def place(self) -> str:
        """``path:line`` of the first offending line."""
        lines = self.finding.lines
        return f"{self.finding.path}:{lines[0][0]}" if lines else self.finding.path


@dataclass(frozen=True)
class StepView:
    """One step. ``mood``: good, changed, out, bad or waiting, that of its outcome or of a gate that failed.

    ``was``: kept, replaced or new beside the old stack.
    """

    number: int
    name: str
    title: str
    pr: str
    kind: str
    outcome: str
    outcome_mood: str
    mood: str
    commit: str
    earlier: str
    was: str
    head: str
    tags: tuple[Tag, ...]
    landed: str
    reused: bool
    conflicts: tuple[ConflictView, ...]
    hazards: tuple[HazardView, ...]
    gates: tuple[GateView, ...]
    no_result: tuple[str, ...]
    measured: bool

    @property
    def quiet(self) -> bool:
        """There is nothing to unfold."""
        return not (self.conflicts or self.gates or self.hazards or self.no_result or self.measured)

    @property
    def looked_at(self) -> bool:
        """A person should look at it: it is bad, it waits, or something of it is unproven."""
        return self.mood in ("bad", "waiting") or any(tag.mood in ("bad", "waiting") for tag in self.tags)


class Steps:
    """Shows the steps of one run. ``measured`` names those with a benchmark."""

    def __init__(self, repository: Repository, run: Run, measured: Collection[str]) -> None:
        self._run = run
        self._records = run.by_name
        self._measured = measured
        self._conflicts = Conflicts(repository, run)
        self._gates = Gates()
        self._results = _by_step(run.gates)

    def all(self) -> tuple[StepView, ...]:
        return tuple(self._view(number, step) for number, step in enumerate(self._run.plan.steps, 1))

    def _view(self, number: int, step: PlannedStep) -> StepView:
        record = self._records.get(step.name)
        gates = tuple(self._gates.view(result) for result in self._results.get(step.name, ()))
        hazards = tuple(hazard(finding) for finding in record.hazards) if record else ()
        with_result = {gate.result.gate for gate in gates}
        measured = step.name in self._measured
        return StepView(
            number=number,
            name=step.name,
            title=step.title,
            pr=step.pr,
            kind=step.kind,
            outcome=_WORDS.get(record.outcome, record.outcome) if record else "not built",
            outcome_mood=_mood(record, ()),
            mood=_mood(record, gates),
            commit=record.commit if record and record.outcome not in LEFT_OUT else "",
            earlier=step.earlier,
            was=_was(step, record),
            head=step.head,
            tags=tuple(_tags(record, gates, hazards, measured)) if record else (),
            landed=record.landed if record else "",
            reused=record.reused if record else False,
            conflicts=self._conflicts.of(record) if record else (),
            hazards=hazards,
            gates=gates,
            no_result=tuple(g for g in record.gates if g not in with_result) if record else (),
            measured=measured,
        )


def _by_step(results: Sequence[GateResult]) -> Mapping[str, list[GateResult]]:
    found: dict[str, list[GateResult]] = {}
    for result in results:
        found.setdefault(result.step, []).append(result)
    return found


def hazard(finding: Finding) -> HazardView:
    """A finding with its word; one that a person allowed, or that was not checked, blocks nothing."""
    if finding.disposition == FOUND:
        return HazardView(finding, *_SEVERITIES.get(finding.severity, (finding.severity, "waiting")))
    return HazardView(
        finding, finding.disposition, "waiting" if finding.disposition == NOT_CHECKED else "soft"
    )


def _mood(record: StepRecord | None, gates: Sequence[GateView]) -> str:
    if record is None:
        return "waiting"
    if record.outcome in STOPPED or any(gate.mood == "bad" for gate in gates):
        return "bad"
    if record.outcome in LEFT_OUT:
        return "out"
    return "good" if record.outcome == "clean" else "changed"


def _was(step: PlannedStep, record: StepRecord | None) -> str:
    if not step.earlier:
        return ADDED
    there = record is not None and record.outcome not in LEFT_OUT and record.commit == step.earlier
    return KEPT if there else REPLACED


def _tags(
    record: StepRecord, gates: Sequence[GateView], hazards: Sequence[HazardView], measured: bool
) -> Iterator[Tag]:
    """What the step's line says without being unfolded."""
    for kind, count in sorted(Counter(used.kind for used in record.resolutions).items()):
        yield Tag(f"{count} {kind}", "soft")
    if record.unresolved:
        yield Tag(f"{len(record.unresolved)} unresolved", "bad")
    for (word, mood), count in Counter((view.word, view.mood) for view in hazards).items():
        yield Tag(f"{count} hazard{'s' if count > 1 else ''}: {word}", mood)
    for gate in gates:
        if gate.mood == "good" and not gate.short_of_gpu:
            yield Tag(f"{gate.result.gate}: {gate.result.outcome}", "good")
        else:
            yield Tag(f"{gate.result.gate}: {_brief(gate)}", "bad" if gate.mood == "bad" else "waiting")
    if measured:
        yield Tag("measured", "soft")
    if record.reused:
        yield Tag("reused", "soft")


def _brief(gate: GateView) -> str:
    """The outcome in a few words, with what it lacks."""
    if gate.result.accepted:
        return f"{gate.result.outcome}, accepted"
    return "passed, but not on a GPU" if gate.result.outcome == "passed" else gate.result.outcome
