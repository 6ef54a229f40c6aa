"""A pseudo-terminal with an emulator behind it: what a terminal shows, without tmux."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyte

COLUMNS, LINES = 80, 24


@dataclass(frozen=True)
class Shown:
    """How a command ended, all that it wrote to the terminal, and the rows that the terminal shows at the end."""

    code: int
    raw: str
    rows: list[str]


def on_a_terminal(
    argv: Sequence[str],
    directory: Path,
    environment: dict[str, str],
    look: Callable[[list[str]], None] = lambda _: None,
    *,
    stdout: int | None = None,
    columns: int = COLUMNS,
) -> Shown:
    """Run a command on a terminal of its own; ``look`` is called with the rows after each write to it.

    With ``stdout``, only standard error is the terminal.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
    screen = pyte.Screen(columns, LINES)
    stream = pyte.ByteStream(screen)
    kept = {k: v for k, v in environment.items() if k not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        list(argv), cwd=directory, env={"TERM": "xterm-256color", **kept, "LC_ALL": "C.UTF-8"},
        stdin=theirs, stdout=theirs if stdout is None else stdout, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    raw = b""
    while data := _read(ours):
        raw += data
        stream.feed(data)
        look([row.rstrip() for row in screen.display])
    os.close(ours)
    return Shown(process.wait(), raw.decode(), [row.rstrip() for row in screen.display])


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError:  # EIO: the last process has closed it
        return b""
