"""How far a rebuild is, as one value that each event takes further."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from stackmerge.gate.outcome import GateResult
from stackmerge.journal import StepRecord
from stackmerge.progress.event import (
    GATING,
    MERGING,
    PLANNING,
    Event,
    GateEnd,
    GateStart,
    Note,
    Stage,
    Start,
    StepEnd,
    StepStart,
)


@dataclass(frozen=True)
class RunningGate:
    """A gate at work: since when (seconds of the epoch), on which device, and the file that it prints to."""

    step: str
    gate: str
    device: str
    log: str
    since: float


@dataclass(frozen=True)
class Progress:
    """Where a rebuild is.

    ``step`` and ``number`` (from one) are what is being merged or gated; ``outcomes`` and ``gates`` count what is
    done; ``note`` says what it waits for; ``since`` is when this command began, in seconds of the epoch.
    """

    since: float
    stack: str = ""
    base: str = ""
    steps: tuple[str, ...] = ()
    stage: str = PLANNING
    number: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    gates: Mapping[str, int] = field(default_factory=dict)
    gate: RunningGate | None = None
    note: str = ""

    @property
    def step(self) -> str:
        return self.steps[self.number - 1] if 0 < self.number <= len(self.steps) else ""


def counted(records: tuple[StepRecord, ...]) -> dict[str, int]:
    """How many steps ended how, in the order in which that first happened."""
    found: dict[str, int] = {}
    for record in records:
        found = _plus(found, record.outcome)
    return found


def gates_counted(results: tuple[GateResult, ...]) -> dict[str, int]:
    """How many gates ended how."""
    found: dict[str, int] = {}
    for result in results:
        found = _plus(found, _word(result))
    return found


def _word(result: GateResult) -> str:
    return "known" if result.cached and result.good else result.outcome


def after(now: Progress, event: Event, clock: float) -> Progress:
    """Where the rebuild is after an event that happened at ``clock``, in seconds of the epoch."""
    match event:
        case Start():
            names = tuple(step.name for step in event.plan.steps)
            return replace(
                now,
                stack=event.plan.stack,
                base=event.plan.base,
                steps=names,
                stage=MERGING,
                number=len(event.done),
                outcomes=counted(event.done),
            )
        case StepStart():
            return replace(now, stage=MERGING, number=event.number)
        case StepEnd():
            return replace(now, outcomes=_plus(now.outcomes, event.record.outcome))
        case Stage():
            return replace(now, stage=event.name, gate=None, note="")
        case Note():
            return replace(_at(now, event.step), note=f"{event.gate}: {event.text}")
        case GateStart():
            gate = RunningGate(event.step, event.gate, event.device, event.log, clock)
            return replace(_at(now, event.step), stage=GATING, gate=gate, note="")
        case GateEnd(result):
            gates = _plus(now.gates, _word(result))
            return replace(_at(now, result.step), gate=None, note="", gates=gates)
    return now


def _at(now: Progress, step: str) -> Progress:
    return replace(now, number=now.steps.index(step) + 1) if step in now.steps else now


def _plus(counts: Mapping[str, int], word: str) -> dict[str, int]:
    return {**counts, word: counts.get(word, 0) + 1}
