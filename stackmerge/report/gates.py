"""The gates of a rebuild as the report shows them: for each step, and all steps that a gate says the same of."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stackmerge.gate.outcome import NOT_RUN, PASSED, GateResult, counted, tail

FAILED_LINES, PASSED_LINES, WIDTH = 60, 12, 400


@dataclass(frozen=True)
class GateView:
    """One gate's result. ``log`` is its end, empty where another step shows the very same run: ``shown_at``.

    ``silent``: the log is there, and has nothing in it.
    """

    result: GateResult
    mood: str
    facts: str
    command: str
    log: str
    shown_at: str = ""
    silent: bool = False

    @property
    def short_of_gpu(self) -> bool:
        """It asks for a GPU, and has not passed on one."""
        return self.result.wants_gpu and not (self.result.outcome == PASSED and self.result.on_gpu)


@dataclass(frozen=True)
class GateGroup:
    """The steps of which one gate says the same; ``known`` of them from an earlier run."""

    gate: str
    words: str
    mood: str
    short_of_gpu: bool
    steps: tuple[str, ...]
    known: int


class Gates:
    """Shows each run of a gate once: a result that was kept serves many steps."""

    def __init__(self) -> None:
        self._shown: dict[str, str] = {}

    def view(self, result: GateResult) -> GateView:
        mood = mood_of(result)
        shown_at = self._shown.get(result.key, "") if result.key else ""
        lines = [] if shown_at else tail(result.log, FAILED_LINES if mood == "bad" else PASSED_LINES)
        if lines and result.key:
            self._shown[result.key] = result.step
        log = "\n".join(line[:WIDTH] for line in lines)
        silent = not lines and Path(result.log).is_file()
        return GateView(result, mood, _facts(result), shlex.join(result.command), log, shown_at, silent)


def _facts(result: GateResult) -> str:
    """Counts, duration and environment in one line."""
    took = f"{result.elapsed_s:.1f} s" if result.outcome != NOT_RUN else ""
    words = [counted(result.counts), took, "known from before" if result.cached else ""]
    words += [f"{name} {value}" for name, value in sorted(result.environment.items())]
    return ", ".join(word for word in words if word)


def mood_of(result: GateResult) -> str:
    if result.bad:
        return "bad"
    return "waiting" if result.accepted or result.outcome == NOT_RUN else "good"


def groups(views: Iterable[GateView]) -> tuple[GateGroup, ...]:
    """The same words of the same gate counted together; what failed comes first."""
    found: dict[tuple[str, str], list[GateView]] = {}
    for view in views:
        found.setdefault((view.result.gate, view.result.words), []).append(view)
    order = ("bad", "waiting", "good")
    return tuple(
        sorted(
            (_group(members) for members in found.values()),
            key=lambda group: (order.index(group.mood), not group.short_of_gpu, group.gate),
        )
    )


def _group(members: list[GateView]) -> GateGroup:
    first = members[0]
    return GateGroup(
        gate=first.result.gate,
        words=first.result.words,
        mood=first.mood,
        short_of_gpu=any(view.short_of_gpu for view in members),
        steps=tuple(view.result.step for view in members),
        known=sum(view.result.cached for view in members),
    )
