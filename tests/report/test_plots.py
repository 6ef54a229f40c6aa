"""Plots of benchmarks; positions by arithmetic."""

from __future__ import annotations

import pytest

from stackmerge.describe.facts import BenchFact
from stackmerge.report.plots import plot, scale, verdict
from stackmerge.serving.record import Figure


def fact(change: float | None, noise: float) -> BenchFact:
    return BenchFact("decode", 100.0, 110.0, change, 3, noise, "tokens/s")


def test_dots_stand_where_their_values_are_on_one_scale() -> None:
    sides = {
        "before": Figure("decode", "tokens/s", (90.0, 110.0, 100.0)),
        "after": Figure("decode", "tokens/s", (130.0, 140.0, 135.0)),
    }
    found = plot(sides, fact(0.35, 0.2))
    assert (found.left, found.right) == pytest.approx(
        (85.0, 145.0)
    )  # 50 wide, and a tenth of that at each end
    before, after = found.rows
    assert before.dots == pytest.approx((10.0, 42.0, 26.0))  # 2 % margin, 1.6 % for each token a second
    assert (before.low, before.middle, before.high) == pytest.approx((10.0, 26.0, 42.0))
    assert (after.low, after.middle, after.high) == pytest.approx((74.0, 82.0, 90.0))


def test_noise_does_not_fill_the_scale() -> None:
    left, right = scale([100.0, 100.1])
    assert right - left == pytest.approx(10.01)
    assert scale([0.0, 1.0])[0] == 0.0
    left, right = scale([0.0, 0.0])
    assert right > left


@pytest.mark.parametrize(
    ("change", "noise", "words"),
    [
        (0.03, 0.05, "+3.0 %, within the spread of the runs (5.0 %)"),
        (-0.12, 0.05, "-12.0 %, more than the spread of the runs (5.0 %)"),
        (None, 0.05, "only one side was measured"),
    ],
)
def test_a_change_within_the_spread_says_so(change: float | None, noise: float, words: str) -> None:
    assert verdict(fact(change, noise)) == words
