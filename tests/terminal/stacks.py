"""Stacks whose rebuilds take some seconds, and what the view of one looks like."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.gate.test_gating import shell, stack
from tests.sandbox import Sandbox

STEPS = ("one", "two", "three", "four")
REBUILD = [sys.executable, "-m", "stackmerge", "rebuild"]
TOP = "rebuilding deploy on "  # how the first line of the view begins


def talking(fork: Sandbox, seconds: float = 0.9, **more: Any) -> None:
    """Four clean steps and a gate that prints long lines in a wide script, some in colour, one hostile."""
    pause = f"sleep {seconds / 6}"
    script = (
        f'for i in 1 2 3; do echo "line $i {"漢字" * 60} end"; {pause}; '
        f"printf '\\033[31mred %s\\033[2J\\033[0m\\n' $i; {pause}; done"
    )
    stack(fork, [{"name": "talks", "run": shell(script), **more}], STEPS)


@contextmanager
def rebuilding(fork: Sandbox) -> Iterator[subprocess.Popen[bytes]]:
    """A rebuild in another process, which is at work on a gate."""
    process = subprocess.Popen(
        REBUILD, cwd=fork.path, env=fork.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def status_with_line(fork: Sandbox, line: str, limit_s: float = 30) -> Any:
    """What `status --json` says once the running gate has printed ``line``."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        found = fork.stackmerge("status", "--json").json
        if found.get("gate") and found["gate"]["line"].startswith(line):
            return found
        time.sleep(0.05)
    raise AssertionError(found)
