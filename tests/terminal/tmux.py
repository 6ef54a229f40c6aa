"""A real terminal: tmux of 80 columns and 24 lines, with a server and a configuration of its own."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Pane:
    """One pane, in which one command runs."""

    def __init__(self, socket: Path, environment: dict[str, str]) -> None:
        self._socket = socket
        self._environment = environment | {"LC_ALL": "C.UTF-8"}

    def tmux(self, *args: str) -> str:
        ran = subprocess.run(
            ["tmux", "-u", "-S", str(self._socket), "-f", "/dev/null", *args],
            env=self._environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return ran.stdout

    def start(self, script: str, directory: Path) -> None:
        self.tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", str(directory), script)

    def screen(self) -> list[str]:
        """The rows that are shown."""
        return self.tmux("capture-pane", "-p").split("\n")[:24]

    def everything(self) -> list[str]:
        """The rows that are shown, and all that scrolled away."""
        return _rows(self.tmux("capture-pane", "-p", "-S", "-"))

    def rows_and_lines(self) -> tuple[list[str], list[str]]:
        """Everything as it is, and with those rows joined that the terminal wrapped, both of one moment."""
        both = self.tmux(
            *("capture-pane", "-p", "-S", "-", ";"),
            *("display-message", "-p", "== joined ==", ";"),
            *("capture-pane", "-p", "-J", "-S", "-"),
        )
        rows, _, lines = both.partition("== joined ==\n")
        return _rows(rows), _rows(lines)

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def samples(self, until: Callable[[list[str]], bool], limit_s: float = 60) -> Iterator[list[str]]:
        """The screen, again and again, until it shows what is waited for."""
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            screen = self.screen()
            yield screen
            if until(screen):
                return
        raise AssertionError("\n".join(self.everything()))

    def wait(self, text: str) -> list[str]:
        """The first screen that shows ``text``."""
        return list(self.samples(lambda screen: any(text in row for row in screen)))[-1]


def _rows(captured: str) -> list[str]:
    rows = "\n".join(row.rstrip() for row in captured.split("\n"))
    return rows.rstrip("\n").split("\n")


@contextmanager
def running(argv: Sequence[str], directory: Path, environment: dict[str, str]) -> Iterator[Pane]:
    """Run a command in a shell of a fresh pane; the shell says DONE and its exit status afterwards."""
    kept = {k: v for k, v in environment.items() if k not in ("COLUMNS", "LINES", "TMUX", "NO_COLOR")}
    socket = Path(os.path.relpath(directory.parent / "tmux"))
    pane = Pane(socket if len(str(socket)) < 90 else directory.parent / "tmux", kept)
    try:
        pane.start(f"{shlex.join(argv)}; echo DONE $?; exec sleep 60", directory)
        yield pane
    finally:
        pane.tmux("kill-server")
