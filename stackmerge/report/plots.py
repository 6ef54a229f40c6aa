"""Benchmarks as plots: a dot for each run, a bar from the smallest to the largest, a tick at the median.

Positions are percentages of the plot's width, so that the page needs no fixed size. The scale need not begin at
zero, but it is never narrower than a tenth of what it shows: noise must not look like a difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stackmerge.describe import measured
from stackmerge.describe.facts import BenchFact, Benchmarks
from stackmerge.record import Run
from stackmerge.serving.record import SIDES, Bench, Figure

MARGIN = 2.0
NARROWEST = 0.1


@dataclass(frozen=True)
class PlotRow:
    """One side of a plot: its runs, their ends and their median, at percentages of the width."""

    side: str
    dots: tuple[float, ...]
    low: float
    high: float
    middle: float


@dataclass(frozen=True)
class Plot:
    """One metric of a step, with the values at both ends of its scale and what it says in words."""

    metric: str
    unit: str
    left: float
    right: float
    rows: tuple[PlotRow, ...]
    fact: BenchFact
    verdict: str


@dataclass(frozen=True)
class MeasuredStep:
    """The benchmark of one step."""

    step: str
    facts: Benchmarks
    plots: tuple[Plot, ...]
    environment: tuple[tuple[str, str], ...]


def measured_steps(chain: Sequence[Run]) -> tuple[MeasuredStep, ...]:
    """The benchmarks of the steps of the newest run, those of earlier runs among them."""
    names = {bench.step for run in chain for bench in run.benches}
    found = []
    for record in chain[0].steps:
        benches = measured.benches(chain, record.name) if record.name in names else {}
        facts = measured.table(benches, record)
        if facts:
            plots = _plots(benches, facts)
            found.append(MeasuredStep(record.name, facts, plots, measured.environment((), benches)))
    return tuple(found)


def _plots(benches: Mapping[str, Bench], facts: Benchmarks) -> tuple[Plot, ...]:
    sides = {side: benches[side].figures for side in SIDES if side in benches}
    return tuple(
        plot({side: figures[at] for side, figures in sides.items()}, fact)
        for at, fact in enumerate(facts.rows)
    )


def plot(figures: Mapping[str, Figure], fact: BenchFact) -> Plot:
    """One metric of each side on one scale."""
    left, right = scale([value for figure in figures.values() for value in figure.values])

    def at(value: float) -> float:
        return round(MARGIN + (100 - 2 * MARGIN) * (value - left) / (right - left), 2)

    rows = tuple(
        PlotRow(
            side, tuple(map(at, f.values)), at(min(f.values)), at(max(f.values)), at(f.middle)
        )
        for side, f in figures.items()
    )  # fmt: skip
    return Plot(fact.metric, fact.unit, left, right, rows, fact, verdict(fact))


def scale(values: Sequence[float]) -> tuple[float, float]:
    """Both ends of a scale that shows all values, and is at least a tenth of the largest wide."""
    low, high = min(values), max(values)
    wide = max((high - low) * 1.2, abs(high) * NARROWEST, 1e-9)
    left = (low + high - wide) / 2
    left = 0.0 if low >= 0 > left else left
    return left, left + wide


def verdict(fact: BenchFact) -> str:
    """What the change means: nothing, where the runs of one side differ by as much."""
    if fact.change is None:
        return "only one side was measured"
    change = f"{fact.change * 100:+.1f} %"
    if fact.noise is not None and abs(fact.change) <= fact.noise:
        return f"{change}, within the spread of the runs ({fact.noise * 100:.1f} %)"
    return f"{change}, more than the spread of the runs ({(fact.noise or 0) * 100:.1f} %)"
