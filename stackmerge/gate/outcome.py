"""What a gate proved: never a bare pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

PASSED, FAILED, TIMED_OUT, NOT_RUN = "passed", "failed", "timed out", "not run"


class GateResult(NamedTuple):
    """One gate on one step's tree.

    ``device``: the name of the GPU it ran on, or a word for the CPU; ``wants_gpu``: the gate asks for a GPU, so a
    pass on a CPU proves less; ``environment``: what the result holds for; ``log``: a file's path; ``skips``: how many
    of its tests were skipped, by reason; ``note``: what the author of the gate should know, whatever the outcome.
    """

    gate: str
    step: str
    tree: str
    outcome: str
    device: str = ""
    reason: str = ""
    counts: Mapping[str, int] = MappingProxyType({})
    elapsed_s: float = 0.0
    key: str = ""
    log: str = ""
    command: tuple[str, ...] = ()
    wants_gpu: bool = False
    on_gpu: bool = False
    environment: Mapping[str, str] = MappingProxyType({})
    cached: bool = False
    accepted: str = ""
    skips: Mapping[str, int] = MappingProxyType({})
    note: str = ""

    @property
    def good(self) -> bool:
        """Nothing speaks against the step: it passed, or a person accepted the failure."""
        return self.outcome == PASSED or bool(self.accepted)

    @property
    def bad(self) -> bool:
        return self.outcome in (FAILED, TIMED_OUT) and not self.accepted

    @property
    def words(self) -> str:
        """The outcome as people should read it."""
        if self.outcome == PASSED:
            return f"passed on {self.device}"
        words = f"{self.outcome} ({self.reason})" if self.reason else self.outcome
        return f"{words}, accepted: {self.accepted}" if self.accepted else words

    def as_json(self) -> dict[str, object]:
        mappings = {name: dict(getattr(self, name)) for name in ("counts", "environment", "skips")}
        return {**self._asdict(), **mappings}

    @classmethod
    def from_json(cls, found: Mapping[str, object]) -> GateResult:
        known = {key: value for key, value in found.items() if key in cls._fields}
        known["command"] = tuple(known.get("command", ()))  # type: ignore[arg-type]
        return cls(**known)  # type: ignore[arg-type]


def counted(counts: Mapping[str, int]) -> str:
    """``12 passed, 1 failed, 3 skipped`` from a report's counts."""
    if not counts.get("tests"):
        return ""
    bad = {name: counts.get(name, 0) for name in ("failures", "errors", "skipped")}
    passed = counts["tests"] - sum(bad.values())
    words = [
        (passed, "passed"),
        (bad["failures"], "failed"),
        (bad["errors"], "errors"),
        (bad["skipped"], "skipped"),
    ]
    return ", ".join(f"{count} {word}" for count, word in words if count)


def tail(log: str, lines: int = 20) -> list[str]:
    """The last lines of a gate's log."""
    try:
        data = Path(log).read_bytes()[-20_000:]
    except OSError:
        return []
    return data.decode(errors="replace").splitlines()[-lines:]


def unproven_on_gpu(results: Iterable[GateResult]) -> list[GateResult]:
    """The gates that ask for a GPU and have not passed on one."""
    return [
        result for result in results if result.wants_gpu and not (result.outcome == PASSED and result.on_gpu)
    ]
