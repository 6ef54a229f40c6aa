"""A rebuild at work, in a few lines: the same on its own terminal and in `status` on another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stackmerge.gate.gauge import Memory
from stackmerge.progress.event import ACCEPTING, MERGING, PLANNING, PROVING
from stackmerge.progress.progress import Progress
from stackmerge.screen import SHORT, clean
from stackmerge.screen_terminal import beside, fit

_STAGES = {
    PLANNING: "planning",
    PROVING: "proving the new tip against the old one",
    ACCEPTING: "moving the branches",
}


def clock(seconds: float) -> str:
    """A duration as people read it: 0:07, 1:02:03."""
    minutes, second = divmod(max(0, int(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def head_lines(verb: str, at: Progress, now: float, memory: Sequence[Memory], width: int) -> list[str]:
    """Two lines: which step of how many, for how long; and what became of those before. ``now``: epoch seconds."""
    where = f" on {at.base[:SHORT]}" if at.base else ""
    first = f"{verb} {clean(at.stack)}{where}: {_doing(at)}"
    counts = _counts(at.outcomes, "nothing done yet")
    if at.gates:
        counts += f"; gates: {_counts(at.gates, '')}"
    return [beside(first, clock(now - at.since), width), beside(f"  {counts}", _gpu(memory), width)]


def gate_lines(at: Progress, now: float, last: str, width: int) -> list[str]:
    """Two lines: the gate that runs, or what it waits for; and the line that it printed last."""
    if at.gate is None:
        return [fit(f"  {clean(at.note)}" if at.note else "", width), ""]
    device = f", {clean(at.gate.device)}" if at.gate.device else ""
    gate = f"  gate {clean(at.gate.gate)} on {clean(at.gate.step)}{device}"
    return [
        beside(gate, clock(now - at.gate.since), width),
        fit(f"  | {clean(last)}" if last else "  | (it has printed nothing yet)", width),
    ]


def _doing(at: Progress) -> str:
    if at.stage in _STAGES:
        return _STAGES[at.stage]
    name = at.step or (at.gate.step if at.gate else "")
    word = "step" if at.stage == MERGING else "gating step"
    if not at.number:
        return clean(name)
    return f"{word} {at.number} of {len(at.steps)}, {clean(name)}"


def _counts(counts: Mapping[str, int], otherwise: str) -> str:
    return ", ".join(f"{count} {word}" for word, count in counts.items()) or otherwise


def _gpu(memory: Sequence[Memory]) -> str:
    """Used of total memory of each GPU, in GiB."""
    shown = [f"{one.used / 2**30:.1f} of {one.total / 2**30:.1f}" for one in memory]
    return f"GPU {', '.join(shown)} GiB" if shown else ""
