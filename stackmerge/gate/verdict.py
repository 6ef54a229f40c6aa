"""What a gate's command proved: its end, and what the report that it wrote says of its tests."""

from __future__ import annotations

from typing import NamedTuple

from stackmerge.gate.execute import Ended
from stackmerge.gate.junit import Report
from stackmerge.gate.outcome import FAILED, NOT_RUN, PASSED, TIMED_OUT, counted


class Verdict(NamedTuple):
    """An outcome and its reason."""

    outcome: str
    reason: str = ""


def judge(ended: Ended, timeout: float, report: Report) -> Verdict:
    """The outcome of a gate whose command ended. An exit status of 0 is a pass only where the report agrees."""
    if ended.timed_out:
        return Verdict(TIMED_OUT, f"after {timeout:.0f} s")
    if ended.status < 0:
        return Verdict(FAILED, f"killed by signal {-ended.status}")
    if ended.status:
        return Verdict(FAILED, f"exit status {ended.status}")
    if report.counts.get("failures") or report.counts.get("errors"):
        return Verdict(FAILED, f"exit status 0, but its report says: {counted(report.counts)}")
    tests = report.counts.get("tests", 0)
    if tests and report.counts["skipped"] == tests:
        return Verdict(NOT_RUN, f"all {tests} tests were skipped: {next(iter(report.skips))}")
    return Verdict(PASSED)
