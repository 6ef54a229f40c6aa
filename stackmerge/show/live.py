"""The live view of a rebuild on its own terminal, drawn by a thread that only reads."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from stackmerge.gate.gauge import Gauge, Memory
from stackmerge.gate.lastline import last_line
from stackmerge.progress.event import GATING, Event
from stackmerge.progress.progress import Progress, after
from stackmerge.screen_terminal import SMALLEST, size, styled
from stackmerge.show.above import printing_above
from stackmerge.show.paint import BOLD, DIM, PLAIN, Painter
from stackmerge.show.view import gate_lines, head_lines

_FRAME_S, _GPU_S = 0.125, 1.0


class View:
    """Draws where a rebuild is, eight times a second; ``gated`` says whether there is room for a gate in it."""

    def __init__(self, verb: str, stack: str, *, gated: bool) -> None:
        self._verb = verb
        self._gated = gated
        self._progress = Progress(time.time(), stack=stack)
        self._painter = Painter(sys.stderr.fileno(), sys.stderr.encoding)
        self._done = threading.Event()
        self._gauge: Gauge | None = None
        self._memory: Sequence[Memory] = ()
        self._next_look = 0.0

    def __call__(self, event: Event) -> None:
        self._progress = after(self._progress, event, time.time())

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the view until the block ends, however it ends."""
        thread = threading.Thread(target=self._draw, name="view", daemon=True)
        with _signals(self._painter), printing_above(self._painter):
            thread.start()
            try:
                yield
            finally:
                self._done.set()
                thread.join()

    def _draw(self) -> None:
        while not self._done.wait(_FRAME_S):
            at, (columns, lines) = self._progress, size()
            self._look_at_gpus(at)
            if columns >= SMALLEST[0] and lines >= SMALLEST[1]:
                self._painter.paint(self._lines(at, columns - 1), columns)

    def _lines(self, at: Progress, width: int) -> list[tuple[str, str]]:
        """The lines and their styles; always as many, so that nothing moves."""
        bold, dim = (BOLD, DIM) if styled() else (PLAIN, PLAIN)
        now = time.time()
        first, second = head_lines(self._verb, at, now, self._memory, width)
        found = [(first, bold), (second, PLAIN)]
        if self._gated:
            last = last_line(at.gate.log) if at.gate else ""
            gate, output = gate_lines(at, now, last, width)
            found += [(gate, PLAIN), (output, dim)]
        return found

    def _look_at_gpus(self, at: Progress) -> None:
        if at.stage != GATING or time.monotonic() < self._next_look:
            return
        self._gauge = self._gauge or Gauge()
        self._memory = self._gauge.read()
        self._next_look = time.monotonic() + _GPU_S


@contextmanager
def _signals(painter: Painter) -> Iterator[None]:
    """Take the view away before a signal stops or ends this process, and show it again when that goes on."""

    def leave(number: int, _: FrameType | None) -> None:
        painter.hide()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # stops or ends here
        signal.signal(number, leave)
        painter.unhide()

    taken = [number for number in (signal.SIGTERM, signal.SIGTSTP) if _is_default(number)]
    for number in taken:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _is_default(number: signal.Signals) -> bool:
    found: Callable[[int, FrameType | None], object] | int | None = signal.getsignal(number)
    return found == signal.SIG_DFL
