"""What a rebuild tells while it is at work. Who listens never changes what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stackmerge.errors import Exit
from stackmerge.gate.telling import GateEnd, GateEvent, GateStart, Note, Tick
from stackmerge.plan import Plan, PlannedStep
from stackmerge.record import Run, StepRecord

__all__ = [
    "End",
    "Event",
    "GateEnd",
    "GateStart",
    "Note",
    "Stage",
    "Start",
    "StepEnd",
    "StepStart",
    "Tell",
    "Tick",
]

PLANNING, MERGING, PROVING, GATING, ACCEPTING = "planning", "merging", "proving", "gating", "accepting"


class Start(NamedTuple):
    """The plan is made. ``done`` are the steps that an earlier part of this rebuild did."""

    plan: Plan
    done: tuple[StepRecord, ...]


class StepStart(NamedTuple):
    """A step is being merged or picked; ``number`` counts from one."""

    number: int
    step: PlannedStep


class StepEnd(NamedTuple):
    """What became of a step."""

    number: int
    record: StepRecord


class Stage(NamedTuple):
    """What follows now: planning, merging, proving, gating or accepting."""

    name: str


class End(NamedTuple):
    """How the rebuild, or this part of it, ended; the fields are those of its `Outcome`."""

    run: Run
    exit_code: Exit
    note: str
    hint: str
    worktree: str


Event = Start | StepStart | StepEnd | Stage | End | GateEvent
Tell = Callable[[Event], None]


def silent(_: Event) -> None:
    return
