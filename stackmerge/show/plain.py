"""A rebuild at work on a terminal that can only print: a line where something begins or took long."""

from __future__ import annotations

import time

from stackmerge.progress.event import Event, GateEnd, GateStart, Note, StepStart
from stackmerge.screen import clean, say

_PAUSE_S = 5.0


class Plain:
    """Says which gate runs and what it proved, and now and then which step is being merged."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _PAUSE_S

    def __call__(self, event: Event) -> None:
        match event:
            case StepStart(number, step) if time.monotonic() >= self._next:
                self._say(f"step {number}, {step.name}")
            case Note(step, gate, text) if time.monotonic() >= self._next:
                self._say(f"gate {gate} on {step}: {text}")
            case GateStart(step, gate):
                self._say(f"gate {gate} on {step} ...")
            case GateEnd(result) if not result.cached:
                self._say(f"gate {result.gate} on {result.step}: {result.words}")

    def _say(self, text: str) -> None:
        self._next = time.monotonic() + _PAUSE_S
        say(clean(text))
