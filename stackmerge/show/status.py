"""``status``: a rebuild that runs in another process, or how the last one ended and what to do next."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from stackmerge.gate.gauge import Gauge
from stackmerge.gate.lastline import last_line
from stackmerge.progress.progress import Progress
from stackmerge.progress.situation import INTERRUPTED, RUNNING, Situation
from stackmerge.screen import clean, print_json, said, say
from stackmerge.screen_terminal import size, smart
from stackmerge.show.paint import Painter
from stackmerge.show.run import outcome_json, outcome_lines
from stackmerge.show.view import gate_lines, head_lines

_WATCH_S = 0.25


def status(stack: str, found: Situation, json: bool) -> None:
    """Show where a stack's last rebuild is."""
    if found.outcome is None and found.present is None:
        said(f"{stack} has not been rebuilt yet", {"stack": stack, "status": "none"}, json)
        return
    if json:
        print_json(as_json(stack, found))
    if found.outcome and not found.planning:
        outcome_lines(found.outcome)
    if found.status == RUNNING:
        _running(found)
    elif found.status == INTERRUPTED:
        _interrupted(found)


def as_json(stack: str, found: Situation) -> dict[str, Any]:
    """What --json prints: the rebuild as `rebuild --json` does, and who is at work on it."""
    shown = outcome_json(found.outcome) if found.outcome and not found.planning else {"stack": stack}
    shown |= {"status": found.status, "next": found.next}
    if found.present is None:
        return shown
    process, at, now = found.present.process, found.progress, time.time()
    gate = at.gate and {
        "step": at.gate.step,
        "gate": at.gate.gate,
        "device": at.gate.device,
        "log": at.gate.log,
        "elapsed_s": round(now - at.gate.since, 3) if found.alive else None,
        "line": last_line(at.gate.log),
    }
    return shown | {
        "process": {"pid": process.pid, "host": process.host, "alive": process.alive},
        "since": _utc(at.since),
        "stage": at.stage,
        "step": {"number": at.number, "of": len(at.steps), "name": at.step} if at.step else None,
        "gate": gate,
        "note": at.note,
    }


def _running(found: Situation) -> None:
    assert found.present is not None
    for line in _view(found.progress):
        say(line)
    process = found.present.process
    where = "" if process.alive else f" on {process.host}, which cannot be seen from here"
    say(f"running since {_utc(found.present.since)}: process {process.pid}{clean(where)}")


def _view(at: Progress) -> list[str]:
    width, now = size()[0] - 1, time.time()
    memory = Gauge().read() if at.gate else ()
    last = last_line(at.gate.log) if at.gate else ""
    below = gate_lines(at, now, last, width) if at.gate or at.note else []
    return [line for line in [*head_lines("rebuilding", at, now, memory, width), *below] if line]


def _interrupted(found: Situation) -> None:
    who = f"its process {found.present.process.pid} is dead" if found.present else "nobody is at work on it"
    say(f"interrupted {clean(_place(found.progress))}: {who}")
    say("`stackmerge continue` goes on from there, `stackmerge abort` gives up; no branch has moved")


def _place(at: Progress) -> str:
    if at.gate:
        return f"in the gate {at.gate.gate} on {at.gate.step}"
    if at.step:
        return f"at step {at.number} of {len(at.steps)}, {at.step}"
    return f"while it was {at.stage}"


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def watch(look: Callable[[], Situation]) -> None:
    """Show a running rebuild until it ends, a few times a second; at once done where none runs."""
    if not smart():
        while look().status == RUNNING:
            time.sleep(_WATCH_S)
        return
    painter = Painter(sys.stderr.fileno(), sys.stderr.encoding)
    try:
        while (found := look()).status == RUNNING:
            painter.paint([(line, "") for line in _view(found.progress)], size()[0])
            time.sleep(_WATCH_S)
    finally:
        painter.hide()
