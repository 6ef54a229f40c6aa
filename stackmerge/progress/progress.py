"""How far a rebuild is, as one value that each event takes further."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from stackmerge.gate.outcome import GateResult
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
from stackmerge.record import StepRecord


class RunningGate(NamedTuple):
    """A gate at work: since when (seconds of the epoch), on which device, and the file that it prints to."""

    step: str
    gate: str
    device: str
    log: str
    since: float


class Progress(NamedTuple):
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
    outcomes: Mapping[str, int] = {}
    gates: Mapping[str, int] = {}
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
            return now._replace(
                stack=event.plan.stack,
                base=event.plan.base,
                steps=names,
                stage=MERGING,
                number=len(event.done),
                outcomes=counted(event.done),
            )
        case StepStart():
            return now._replace(stage=MERGING, number=event.number)
        case StepEnd():
            return now._replace(outcomes=_plus(now.outcomes, event.record.outcome))
        case Stage():
            return now._replace(stage=event.name, number=0, gate=None, note="")
        case Note():
            return _at(now, event.step)._replace(note=f"{event.gate}: {event.text}")
        case GateStart():
            gate = RunningGate(event.step, event.gate, event.device, event.log, clock)
            return _at(now, event.step)._replace(stage=GATING, gate=gate, note="")
        case GateEnd(result):
            gates = _plus(now.gates, _word(result))
            return _at(now, result.step)._replace(gate=None, note="", gates=gates)
    return now


def _at(now: Progress, step: str) -> Progress:
    return now._replace(number=now.steps.index(step) + 1) if step in now.steps else now


def _plus(counts: Mapping[str, int], word: str) -> dict[str, int]:
    return {**counts, word: counts.get(word, 0) + 1}
