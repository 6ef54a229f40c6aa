"""Where the time of a rebuild went."""

from __future__ import annotations

from dataclasses import dataclass

from stackmerge.record import Run

SHOWN = 12


@dataclass(frozen=True)
class Timing:
    """One thing that took time: seconds, and its share of the longest."""

    what: str
    seconds: float
    share: float


@dataclass(frozen=True)
class Timings:
    """Seconds of all steps and of the gates that ran now; ``kept_s`` is what the kept results took when they ran."""

    total_s: float
    steps_s: float
    gates_s: float
    kept_s: float
    ran: int
    kept: int
    slowest: tuple[Timing, ...]


def timings(run: Run) -> Timings:
    """The times of a run; a gate's result that was kept took none of it."""
    ran = [result for result in run.gates if not result.cached]
    kept = [result for result in run.gates if result.cached]
    timed = [(record.name, record.elapsed_s) for record in run.steps]
    timed += [(f"{result.step}: gate {result.gate}", result.elapsed_s) for result in ran]
    timed.sort(key=lambda pair: -pair[1])
    longest = max((seconds for _, seconds in timed), default=0.0) or 1.0
    return Timings(
        total_s=run.elapsed_s,
        steps_s=sum(record.elapsed_s for record in run.steps),
        gates_s=sum(result.elapsed_s for result in ran),
        kept_s=sum(result.elapsed_s for result in kept),
        ran=len(ran),
        kept=len(kept),
        slowest=tuple(Timing(name, seconds, seconds / longest) for name, seconds in timed[:SHOWN]),
    )
