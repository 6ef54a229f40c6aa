"""Where the last rebuild of a stack is, from its journal and from what a running process left beside it."""

from __future__ import annotations

from dataclasses import dataclass

from stackmerge.outcome import Outcome
from stackmerge.progress import presence
from stackmerge.progress.event import GATING, MERGING, PLANNING
from stackmerge.progress.presence import Present
from stackmerge.progress.progress import Progress, counted, gates_counted
from stackmerge.rebuild import current
from stackmerge.stack import Stack

RUNNING, INTERRUPTED = "running", "interrupted"
_NEXT = {
    INTERRUPTED: "stackmerge continue",
    "conflict": "stackmerge continue",
    "hazard": "stackmerge continue",
    "gate": "stackmerge continue",
    "proof": "stackmerge verify",
    "complete": "stackmerge accept",
}


@dataclass(frozen=True)
class Situation:
    """A rebuild as it stands: what its journal says, and the process at work on it, alive or killed."""

    outcome: Outcome | None
    present: Present | None

    @property
    def alive(self) -> bool:
        """Is a process at work? One of another machine counts, since it cannot be seen from here."""
        return self.present is not None and self.present.process.alive is not False

    @property
    def planning(self) -> bool:
        """A rebuild has begun and has no journal yet: what the journal says is of the one before."""
        return self.alive and self.present is not None and self.present.stage == PLANNING

    @property
    def status(self) -> str:
        """The status of the journal; interrupted where it says running and nobody is, or planning was cut off."""
        if self.alive:
            return RUNNING
        if self.outcome is None or (
            self.outcome.run.status == RUNNING and self.outcome.run.state == "candidate"
        ):
            return INTERRUPTED
        return self.outcome.run.status

    @property
    def next(self) -> str:
        """The command that goes on from here; empty where there is nothing to do."""
        if self.outcome is None:
            return "stackmerge rebuild" if self.status == INTERRUPTED else ""
        state = self.outcome.run.state
        if self.outcome.run.kept_going and state == "candidate":
            return "stackmerge rebuild"
        if self.status == RUNNING or state in ("accepted", "aborted"):
            return ""
        return "stackmerge continue" if state == "accepting" else _NEXT.get(self.status, "")

    @property
    def progress(self) -> Progress:
        """The same as the live view of the process shows."""
        run, present = self.outcome.run if self.outcome else None, self.present
        if run is None or self.planning:
            return Progress(present.since if present else 0.0, stack=run.plan.stack if run else "")
        names = tuple(step.name for step in run.plan.steps)
        stage = present.stage if present else GATING if len(run.steps) >= len(names) else MERGING
        gate = present.gate if present else None
        merged = len(run.steps) >= len(names)  # the next step is the one at work, unless there is none left
        number = (
            names.index(gate.step) + 1 if gate and gate.step in names else 0 if merged else len(run.steps) + 1
        )
        return Progress(
            since=present.since if present else run.started,
            stack=run.plan.stack,
            base=run.plan.base,
            steps=names,
            stage=GATING if gate else stage,
            number=number,
            outcomes=counted(run.steps),
            gates=gates_counted(run.gates),
            gate=gate,
            note=present.note if present else "",
        )


def situation(stack: Stack) -> Situation:
    """Where the last rebuild of a stack is. The process is looked at first: what it does next is in the journal."""
    present = presence.read(stack.directory)
    return Situation(current(stack), present)
