"""What gates tell while they are at work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stackmerge.gate.outcome import GateResult


@dataclass(frozen=True)
class Note:
    """Something that holds a gate up, in words: it waits for a GPU, or runs a command before or after."""

    step: str
    gate: str
    text: str


@dataclass(frozen=True)
class GateStart:
    """A gate's command starts. ``device`` is the GPU that it was given, or empty; ``log`` the file it prints to."""

    step: str
    gate: str
    command: tuple[str, ...]
    device: str
    log: str


@dataclass(frozen=True)
class Tick:
    """The command still runs; told some five times a second, for those who look at its log."""


@dataclass(frozen=True)
class GateEnd:
    """What a gate proved, now or earlier. Told again where a person accepted the failure: the last one counts."""

    result: GateResult


GateEvent = Note | GateStart | Tick | GateEnd
Tell = Callable[[GateEvent], None]
