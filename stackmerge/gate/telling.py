"""What gates tell while they are at work, as named tuples: a dataclass costs every command half a millisecond."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stackmerge.gate.outcome import GateResult


class Note(NamedTuple):
    """Something that holds a gate up, in words: it waits for a GPU, or runs a command before or after."""

    step: str
    gate: str
    text: str


class GateStart(NamedTuple):
    """A gate's command starts. ``device`` is the GPU that it was given, or empty; ``log`` the file it prints to."""

    step: str
    gate: str
    command: tuple[str, ...]
    device: str
    log: str


class Tick(NamedTuple):
    """The command still runs; told some five times a second, for those who look at its log."""


class GateEnd(NamedTuple):
    """What a gate proved, now or earlier. Told again where a person accepted the failure: the last one counts."""

    result: GateResult


GateEvent = Note | GateStart | Tick | GateEnd
Tell = Callable[[GateEvent], None]
