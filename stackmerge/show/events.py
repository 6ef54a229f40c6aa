"""``--events``: what a rebuild does, as it does it, one JSON object a line. docs/ci.md has the table."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import IO

from stackmerge.errors import StackmergeError, UsageError
from stackmerge.gate.lastline import last_line
from stackmerge.progress.event import (
    End,
    Event,
    GateEnd,
    GateStart,
    Note,
    Stage,
    Start,
    StepEnd,
    StepStart,
    Tick,
)
from stackmerge.screen import warn
from stackmerge.show.run import gate_json, step_json, tree_of

_LINE_S = 1.0


class EventLog:
    """Writes events to a stream, each line at once. A stream that breaks is given up with a warning."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream: IO[str] | None = stream
        self._gate: GateStart | None = None
        self._began = 0.0
        self._next_line = 0.0
        self._last = ""

    def __call__(self, event: Event) -> None:
        match event:
            case Start(plan, done):
                names = [step.name for step in plan.steps]
                known = [record.name for record in done]
                self.write(
                    "start", stack=plan.stack, base=plan.base, old_base=plan.old_base, steps=names, done=known
                )
            case StepStart(number, step):
                self.write("step_start", number=number, name=step.name, kind=step.kind, head=step.head)
            case StepEnd(number, record):
                self.write("step_end", number=number, **step_json(record))
            case Stage(name):
                self.write("stage", stage=name)
            case Note(step, gate, text):
                self.write("gate_note", step=step, gate=gate, note=text)
            case GateStart():
                self._gate, self._began, self._last = event, time.monotonic(), ""
                self.write("gate_start", **event._asdict())
            case Tick():
                self._line()
            case GateEnd(result):
                self._gate = None
                self.write("gate_end", **gate_json(result))
            case End():
                self._end(event)

    def write(self, event: str, **fields: object) -> None:
        """Write one line; ``time`` is UTC."""
        if self._stream is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        try:
            self._stream.write(json.dumps({"event": event, "time": now, **fields}) + "\n")
            self._stream.flush()
        except OSError as error:
            self._stream = None
            warn(f"--events: nothing more can be written: {error.strerror}")

    def _line(self) -> None:
        """The newest line of the gate's output, at most one a second."""
        now = time.monotonic()
        if self._gate is None or now < self._next_line:
            return
        line = last_line(self._gate.log)
        if line and line != self._last:
            self._last, self._next_line = line, now + _LINE_S
            where = {"step": self._gate.step, "gate": self._gate.gate}
            self.write("gate_line", **where, line=line, elapsed_s=round(now - self._began, 3))

    def _end(self, end: End) -> None:
        run = end.run
        told = {"note": end.note, "hint": end.hint, "worktree": end.worktree}
        told = {key: value for key, value in told.items() if value}
        if run.status != "complete":
            at = run.failed.step if run.failed else run.steps[-1].name if run.steps else ""
            self.write("stop", status=run.status, step=at, **told)
        proof = {key: run.proof[key] for key in ("holds", "counts")} if run.proof else None
        self.write(
            "end",
            status=run.status,
            state=run.state,
            tip=run.tip,
            tree=tree_of(run),
            proof=proof,
            exit_code=int(end.exit_code),
            elapsed_s=run.elapsed_s,
            **told,
        )


@contextmanager
def event_log(name: str) -> Iterator[EventLog]:
    """Write events to the file ``name``, or to standard output for ``-``. An error is the last event."""
    stream = sys.stdout if name == "-" else _opened(name)
    log = EventLog(stream)
    try:
        yield log
    except StackmergeError as error:
        told = {"error": error.message, "hint": error.hint}
        log.write("end", status="error", **told, exit_code=int(error.exit_code))
        raise
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        log.write(
            "end", status="interrupted" if interrupted else "error", exit_code=130 if interrupted else 1
        )
        raise
    finally:
        if stream is not sys.stdout:
            stream.close()


def _opened(name: str) -> IO[str]:
    try:
        return open(name, "w", encoding="utf-8")  # noqa: PTH123 - a path may be /dev/fd/3; closed above
    except OSError as error:
        raise UsageError(
            f"--events: cannot write {name}: {error.strerror}", "name a file, or - for standard output"
        ) from error
