"""Draws a few lines at the bottom of what a terminal shows, and keeps them there.

The cursor rests below the lines, so that a process which is killed leaves a shell's prompt in the right place.
Each change is one write that rewrites only the lines that differ, without erasing them first: nothing flickers.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from stackmerge.screen_terminal import cells

BOLD, DIM, PLAIN = "\x1b[1m", "\x1b[2m", ""
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"


class Painter:
    """Draws on one terminal. After a write that failed it draws no more: the terminal is gone."""

    def __init__(self, fd: int, encoding: str) -> None:
        self._fd = fd
        self._encoding = encoding
        self._lock = threading.RLock()
        self._shown: list[tuple[str, str]] = []
        self._width = 0
        self._hidden = False

    def paint(self, lines: Sequence[tuple[str, str]], width: int) -> None:
        """Show lines, each a text of less than ``width`` columns and its style, in place of those before."""
        with self._lock:
            if self._hidden:
                return
            new = list(lines)
            out = self._changed(new) if width == self._width and len(new) == len(self._shown) else ""
            if not out and new != self._shown:
                out = (
                    self._erasing(width) + _NO_WRAP + "".join(f"{_styled(line)}\r\n" for line in new) + _WRAP
                )
            self._shown, self._width = new, width
            self._write(out)

    def above(self, text: str) -> None:
        """Print text that ends its line, and the lines again below it."""
        with self._lock:
            lines = "".join(f"{_styled(line)}\r\n" for line in self._shown)
            self._write(self._erasing(self._width) + text + (_NO_WRAP + lines + _WRAP if lines else ""))

    def hide(self) -> None:
        """Take the lines away, until `unhide`."""
        with self._lock:
            self._write(self._erasing(self._width))
            self._shown, self._hidden = [], True

    def unhide(self) -> None:
        with self._lock:
            self._hidden = False

    def _changed(self, new: Sequence[tuple[str, str]]) -> str:
        """What rewrites the lines that differ, with the cursor below all of them before and after."""
        moves = []
        for number, (old, line) in enumerate(zip(self._shown, new, strict=True)):
            if old != line:
                up = len(new) - number
                moves.append(f"\x1b[{up}A\r{_styled(line)}\x1b[K\x1b[{up}B\r")
        return _NO_WRAP + "".join(moves) + _WRAP if moves else ""

    def _erasing(self, width: int) -> str:
        """What takes the lines away, and what was typed below them. A terminal that became narrower wrapped them.

        Row by row: tmux takes `erase to the end` in its first row for a new page, and keeps the old one.
        """
        if not self._shown:
            return ""
        rows = sum(max(1, -(-cells(text) // max(1, width))) for text, _ in self._shown)
        return "\r\x1b[2K" + "\x1b[A\x1b[2K" * rows

    def _write(self, text: str) -> None:
        data = text.encode(self._encoding, "replace")
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError:
            self._hidden, self._shown = True, []


def _styled(line: tuple[str, str]) -> str:
    text, style = line
    return f"{style}{text}\x1b[0m" if style and text else text
