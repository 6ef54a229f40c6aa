"""What is printed while lines are drawn at the bottom of the terminal appears above them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from stackmerge.show.paint import Painter


class _Above:
    """A stream that prints whole lines above what is drawn; the rest of its nature is the stream's own."""

    def __init__(self, stream: TextIO, painter: Painter) -> None:
        self._stream = stream
        self._painter = painter
        self._held = ""

    def write(self, text: str) -> int:
        lines, end, rest = (self._held + text).rpartition("\n")
        self._held = rest
        if end:
            self._painter.above((lines + end).replace("\r\n", "\n").replace("\n", "\r\n"))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """A line that has not ended waits: the lines below it begin at the left."""

    def finish(self) -> None:
        self._stream.write(self._held)
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def printing_above(painter: Painter) -> Iterator[None]:
    """Lead standard error, and standard output where that is a terminal too, above what ``painter`` draws."""
    streams = sys.stdout, sys.stderr
    for stream in streams:
        stream.flush()
    led = [_Above(stream, painter) if stream.isatty() else stream for stream in streams]
    sys.stdout, sys.stderr = (cast(TextIO, stream) for stream in led)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        painter.hide()
        for stream in led:
            if isinstance(stream, _Above):
                stream.finish()
