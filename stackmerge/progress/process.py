"""One process, named so that another one which later gets its number is not taken for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """``started`` is the kernel's start time of it, in clock ticks since boot; empty where that cannot be read."""

    pid: int
    host: str
    started: str

    @property
    def alive(self) -> bool | None:
        """Does it still run? None for a process of another machine, which cannot be seen from here."""
        if self.host != os.uname().nodename:
            return None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass  # somebody else's, but there
        state, started = _stat(self.pid)
        return state != "Z" and started == self.started


def this_process() -> Process:
    return Process(os.getpid(), os.uname().nodename, _stat(os.getpid())[1])


def _stat(pid: int) -> tuple[str, str]:
    """State and start time of a process, from procfs. Source: proc(5), fields 3 and 22."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return "", ""
    return fields[0], fields[19]
