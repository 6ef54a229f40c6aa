"""What a running rebuild leaves in our private directory, so that `status` can say where it is.

The journal has every finished step and gate; this file has the rest: which process is at work, since when, and
on which gate. It is written when that changes, at most ten times a second but for a gate that begins, and is gone when
the process ends in any way but being killed.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from stackmerge.gate.telling import GateStart
from stackmerge.progress.event import PROVING, Event, Stage, Start, StepEnd, StepStart, Tell
from stackmerge.progress.process import Process, this_process
from stackmerge.progress.progress import Progress, RunningGate, after

NAME = "running.json"
_PAUSE_S = 0.1


class Present(NamedTuple):
    """What the file says. Times are seconds of the epoch."""

    process: Process
    since: float
    stage: str
    gate: RunningGate | None
    note: str


class Presence:
    """Hands on what a rebuild tells, and keeps the file. A file that cannot be written stops nothing."""

    def __init__(self, directory: Path, tell: Tell) -> None:
        self._path = directory / NAME
        self._tell = tell
        self._process = this_process()
        self._progress = Progress(time.time())
        self._written: Present | None = None
        self._next = 0.0

    def __enter__(self) -> Presence:
        self._write(now=True)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def __call__(self, event: Event) -> None:
        if not isinstance(event, StepStart | StepEnd):  # the journal has those
            self._progress = after(self._progress, event, time.time())
            self._write(now=isinstance(event, Start | GateStart) or event == Stage(PROVING))
        self._tell(event)

    def _write(self, *, now: bool) -> None:
        """Write what is new; what comes too soon after the last time waits for the next event."""
        at = self._progress
        present = Present(self._process, at.since, at.stage, at.gate, at.note)
        clock = time.monotonic()
        if present == self._written or (clock < self._next and not now):
            return
        self._written, self._next = present, clock + _PAUSE_S
        temporary = self._path.with_suffix(".new")
        with suppress(OSError):
            temporary.write_text(json.dumps(_as_json(present)))
            temporary.replace(self._path)


def _as_json(present: Present) -> dict[str, object]:
    gate = present.gate and present.gate._asdict()
    return {**present._asdict(), "process": present.process._asdict(), "gate": gate}


def read(directory: Path) -> Present | None:
    """What the file of a stack says; None where nobody is at work or it cannot be read."""
    try:
        found = json.loads((directory / NAME).read_bytes())
        gate = RunningGate(**found["gate"]) if found["gate"] else None
        return Present(**{**found, "process": Process(**found["process"]), "gate": gate})
    except (OSError, ValueError, TypeError, KeyError):
        return None
