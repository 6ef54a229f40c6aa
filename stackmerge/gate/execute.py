"""Run a gate's command under its supervisor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stackmerge.gate.environment import environment

LOG_LIMIT = 4_000_000
_TICK_S = 0.2


@dataclass(frozen=True)
class Ended:
    """How a command ended. ``error`` is why it could not even start; ``status`` is negative for a signal."""

    status: int = -1
    timed_out: bool = False
    elapsed_s: float = 0.0
    error: str = ""


def execute(
    argv: Sequence[str],
    directory: Path,
    env: Mapping[str, str],
    *,
    timeout: float,
    log: Path,
    keep: bool = False,
    tick: Callable[[], None] = lambda: None,
) -> Ended:
    """Run ``argv`` in ``directory``; its output goes to ``log``, of which head and tail are kept.

    With ``keep``, what it leaves running stays: a command that starts or stops a server. ``tick`` is called five
    times a second while it runs.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    request = {
        "argv": list(argv),
        "cwd": str(directory),
        "env": dict(env),
        "timeout": timeout,
        "log": str(log),
        "limit": LOG_LIMIT,
        "keep": keep,
        "parent": os.getpid(),
    }
    try:
        answer = json.loads(_supervised(json.dumps(request).encode(), tick))
    except ValueError:
        return Ended(error="its supervisor was killed")
    if "error" in answer:
        return Ended(error=answer["error"])
    return Ended(
        int(answer["status"] if answer["status"] is not None else -9),
        answer["timed_out"],
        answer["elapsed_s"],
    )


def _supervised(request: bytes, tick: Callable[[], None]) -> bytes:
    """What the supervisor answers to a request."""
    supervisor = [sys.executable, "-I", str(Path(__file__).with_name("runner.py"))]
    with (
        tempfile.TemporaryDirectory(prefix="stackmerge-gate-") as home,
        subprocess.Popen(
            supervisor,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=home,
            env=environment(),
            process_group=0,  # Ctrl-C is ours to answer: we end it, and it ends what it started
        ) as process,
    ):
        try:
            left: bytes | None = request
            while True:
                try:
                    return process.communicate(left, timeout=_TICK_S)[0]
                except subprocess.TimeoutExpired:
                    left = None  # it is on its way
                    tick()
        except BaseException:
            process.terminate()  # it kills what it started, and ends
            raise
