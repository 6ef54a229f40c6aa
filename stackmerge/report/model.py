"""What the report shows, gathered from the journal and the objects that it names."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackmerge.gate.outcome import unproven_on_gpu
from stackmerge.proof import BAD, VERDICTS
from stackmerge.record import STOPPED, Run, StepRecord
from stackmerge.report import attention
from stackmerge.report.gates import GateGroup, groups
from stackmerge.report.plots import MeasuredStep, measured_steps
from stackmerge.report.steps import ADDED, Steps, StepView
from stackmerge.report.timings import Timings, timings
from stackmerge.repository import Repository

PATHS = 1000
OUTCOMES = ("conflict", "blocked", "not built", "by hand", "fixup", "replayed", "clean", "landed", "empty")


@dataclass(frozen=True)
class ProofView:
    """The verdicts with their counts and meanings, and the paths, those that fail first; ``more`` are left out."""

    holds: bool
    counts: tuple[tuple[str, int, str], ...]
    paths: tuple[Mapping[str, str], ...]
    more: int


@dataclass(frozen=True)
class ReportView:
    """The whole page. ``gone`` are the steps of the old stack that are no longer in it.

    ``others``: how many steps are new, landed, left out or not built, in words; no step counts twice.
    """

    stack: str
    status: str
    mood: str
    headline: str
    base: str
    old_base: str
    tip: str
    old_tip: str
    started: str
    counts: tuple[tuple[str, int], ...]
    was: Mapping[str, int]
    others: tuple[str, ...]
    gone: tuple[str, ...]
    steps: tuple[StepView, ...]
    numbers: Mapping[str, int]
    attention: tuple[attention.Item, ...]
    gates: tuple[GateGroup, ...]
    gates_off: bool
    proof: ProofView | None
    unproven: tuple[str, ...]
    measured: tuple[MeasuredStep, ...]
    timings: Timings

    @property
    def replayed(self) -> bool:
        """Some answer is shown beside the two sides of its conflict."""
        return any(conflict.hunks for step in self.steps for conflict in step.conflicts)


def view(repository: Repository, chain: Sequence[Run]) -> ReportView:
    """Everything that the page shows of a run. ``chain`` is it and the rebuilds that it came from, newest first."""
    run = chain[0]
    measured = measured_steps(chain)
    steps = Steps(repository, run, {one.step for one in measured}).all()
    gates = groups(gate for step in steps for gate in step.gates)
    proof = _proof(run.proof)
    failures = [path["path"] for path in proof.paths if path["verdict"] in BAD] if proof else []
    return ReportView(
        stack=run.plan.stack,
        status=run.status,
        mood="good" if run.status == "complete" else "waiting" if run.status == "running" else "bad",
        headline=_headline(run),
        base=run.plan.base,
        old_base=run.plan.old_base,
        tip=run.tip,
        old_tip=run.plan.old_tip,
        started=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.started)),
        counts=tuple(sorted(Counter(step.outcome for step in steps).items(), key=_order)),
        was=Counter(step.was for step in steps),
        others=tuple(_others(steps)),
        gone=_gone(chain),
        steps=steps,
        numbers={step.name: step.number for step in steps},
        attention=attention.items(steps, gates, failures),
        gates=gates,
        gates_off=run.options.get("gates") == "off",
        proof=proof,
        unproven=tuple(sorted({result.gate for result in unproven_on_gpu(run.gates)})),
        measured=measured,
        timings=timings(run),
    )


def _order(counted: tuple[str, int]) -> int:
    """What needs somebody comes first."""
    outcome = counted[0]
    return OUTCOMES.index(outcome) if outcome in OUTCOMES else len(OUTCOMES)


def _headline(run: Run) -> str:
    if run.state == "aborted":
        return "The rebuild was given up."
    if run.status == "complete":
        state = {"accepted": "accepted", "candidate": "complete, not accepted yet"}.get(run.state, run.state)
        return f"The rebuild is {state}."
    last = run.steps[-1].name if run.steps else "its start"
    if run.status in STOPPED and (stopped := [step for step in run.steps if step.outcome in STOPPED]):
        return " ".join(_stops(stopped))
    gate = f"The gate {run.failed.gate} failed, at {run.failed.step}." if run.failed else ""
    words = {
        "gate": gate or "A gate has not passed on a GPU, which --require-gpu asks for.",
        "proof": "The proof failed: branches stay where they are.",
        "running": f"Running, after {last}.",
    }
    return words.get(run.status, f"It ended with {run.status}.")


def _stops(stopped: Sequence[StepRecord]) -> Iterator[str]:
    """What stopped a rebuild, or the steps that one with --keep-going left out."""
    for outcome, one, many in (
        ("conflict", "A conflict needs a person, at {}.", "{} steps have conflicts that need a person."),
        ("hazard", "A hazard blocks {}.", "Hazards block {} steps."),
    ):
        names = [record.name for record in stopped if record.outcome == outcome]
        if names:
            yield one.format(names[0]) if len(names) == 1 else many.format(len(names))


def _others(steps: Sequence[StepView]) -> Iterator[str]:
    """The steps that are new beside the old stack, and those that have no commit in the new one."""
    without = {"landed": "landed", "empty": "left out", "skipped": "left out"}
    found = Counter((step.was if step.commit else without.get(step.outcome, "not built")) for step in steps)
    for what, one, many in (
        (ADDED, "1 is new", "{} are new"),
        ("landed", "1 landed", "{} landed"),
        ("left out", "1 is left out", "{} are left out"),
        ("not built", "1 is not built", "{} are not built"),
    ):
        if found[what]:
            yield one if found[what] == 1 else many.format(found[what])


def _gone(chain: Sequence[Run]) -> tuple[str, ...]:
    if len(chain) < 2:
        return ()
    names = {step.name for step in chain[0].plan.steps}
    return tuple(step.name for step in chain[1].plan.steps if step.name not in names)


def _proof(found: Mapping[str, Any] | None) -> ProofView | None:
    if not found or found.get("holds") is None:
        return None
    paths = sorted(found.get("paths", ()), key=lambda p: (p["verdict"] not in BAD, p["path"]))
    counts = sorted(found.get("counts", {}).items(), key=lambda pair: (pair[0] not in BAD, pair[0]))
    return ProofView(
        holds=bool(found["holds"]),
        counts=tuple((verdict, count, VERDICTS.get(verdict, "")) for verdict, count in counts),
        paths=tuple(paths[:PATHS]),
        more=max(0, len(paths) - PATHS),
    )
