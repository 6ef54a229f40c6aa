"""The first step that a gate fails on, by bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from stackmerge.errors import StackmergeError
from stackmerge.gate.outcome import NOT_RUN, GateResult

T = TypeVar("T")


class Unknown(StackmergeError):
    """A gate did not run on a step, so nobody knows whether the first bad step is before or after it."""

    def __init__(self, result: GateResult) -> None:
        super().__init__(
            f"the gate {result.gate} cannot be bisected: on {result.step} it was {result.words}",
            "a step that it did not run on is neither good nor bad; give the gate what it lacks there",
        )
        self.result = result


def first_bad(steps: Sequence[T], look: Callable[[T], GateResult]) -> tuple[GateResult | None, int]:
    """The result at the first step on which a gate fails, and how often it ran; None when the last one passes.

    At most ``ceil(log2(n)) + 1`` runs for n steps. Raises Unknown where the gate does not run on one of them.
    """
    found, runs = _ran(look(steps[-1])), 1
    if not found.bad:
        return None, runs
    good, bad = -1, len(steps) - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        runs += 1
        result = _ran(look(steps[middle]))
        if result.bad:
            found, bad = result, middle
        else:
            good = middle
    return found, runs


def _ran(result: GateResult) -> GateResult:
    if result.outcome == NOT_RUN:
        raise Unknown(result)
    return result
