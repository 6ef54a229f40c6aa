"""Stacks whose rebuilds take some seconds, and what the view of one looks like."""

from __future__ import annotations

import sys
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
