"""What the report shows, gathered from the journal and the objects that it names."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stackmerge.gate.outcome import GateResult, tail, unproven_on_gpu
from stackmerge.journal import LEFT_OUT, ConflictRecord, Run, StepRecord
from stackmerge.merge import Merged
from stackmerge.plan import PlannedStep
from stackmerge.proof import BAD, VERDICTS
from stackmerge.replay import Used
from stackmerge.report.hunks import Hunk, hunks
from stackmerge.repository import Repository

LOG_LINES = 200


@dataclass(frozen=True)
class ConflictView:
    """One conflicted path: how it was answered, by whom, and its hunks where it is text."""

    path: str
    kind: str
    reason: str
    where: str
    answer: str
    origin: tuple[tuple[str, str], ...]
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True)
class GateView:
    """One gate's result, with the end of its log."""

    result: GateResult
    mood: str
    counts: str
    log: str


@dataclass(frozen=True)
class StepView:
    """One step of the stack. ``mood``: good, changed, out, bad or waiting."""

    number: int
    name: str
    title: str
    pr: str
    kind: str
    outcome: str
    mood: str
    commit: str
    head: str
    detail: str
    elapsed: str
    conflicts: tuple[ConflictView, ...]
    gates: tuple[GateView, ...]

    @property
    def quiet(self) -> bool:
        """There is nothing to unfold."""
        return not (self.conflicts or self.gates)


@dataclass(frozen=True)
class ReportView:
    """The whole page."""

    stack: str
    status: str
    mood: str
    headline: str
    base: str
    old_base: str
    tip: str
    old_tip: str
    started: str
    elapsed: str
    counts: tuple[tuple[str, int], ...]
    steps: tuple[StepView, ...]
    proof_holds: bool | None
    proof_counts: tuple[tuple[str, int, str], ...]
    proof_paths: tuple[Mapping[str, str], ...]
    unproven: tuple[str, ...]
    slowest: tuple[tuple[str, float, float], ...]


def view(repository: Repository, run: Run) -> ReportView:
    """Everything that the page shows of a run."""
    records = run.by_name
    steps = tuple(
        _step(repository, number, step, records.get(step.name), run)
        for number, step in enumerate(run.plan.steps, 1)
    )
    proof: dict[str, Any] = dict(run.proof or {})
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
        elapsed=f"{run.elapsed_s:.2f} s",
        counts=tuple(sorted(Counter(step.outcome for step in steps).items())),
        steps=steps,
        proof_holds=proof.get("holds"),
        proof_counts=tuple((v, n, VERDICTS[v]) for v, n in sorted(proof.get("counts", {}).items())),
        proof_paths=tuple(sorted(proof.get("paths", ()), key=lambda p: (p["verdict"] not in BAD, p["path"]))),
        unproven=tuple(sorted({result.gate for result in unproven_on_gpu(run.gates)})),
        slowest=_slowest(run),
    )


def _headline(run: Run) -> str:
    if run.status == "complete":
        state = {"accepted": "accepted", "candidate": "complete, not accepted yet"}.get(run.state, run.state)
        return f"The rebuild is {state}."
    last = run.steps[-1].name if run.steps else "its start"
    words = {
        "conflict": f"A conflict needs a person, at {last}.",
        "gate": "A gate failed.",
        "hazard": f"A hazard blocks, at {last}.",
        "proof": "The proof failed: branches stay where they are.",
        "running": f"Running, after {last}.",
    }
    return words.get(run.status, f"It ended with {run.status}.")


def _step(
    repository: Repository, number: int, step: PlannedStep, record: StepRecord | None, run: Run
) -> StepView:
    gates = tuple(_gate(result) for result in run.gates if result.step == step.name)
    return StepView(
        number=number,
        name=step.name,
        title=step.title,
        pr=step.pr,
        kind=step.kind,
        outcome=record.outcome if record else "not built",
        mood=_mood(record, gates),
        commit=record.commit if record and record.outcome not in LEFT_OUT else "",
        head=step.head,
        detail=_detail(record),
        elapsed=f"{record.elapsed_s * 1000:.0f} ms" if record else "",
        conflicts=_conflicts(repository, record) if record else (),
        gates=gates,
    )


def _mood(record: StepRecord | None, gates: tuple[GateView, ...]) -> str:
    if record is None:
        return "waiting"
    if record.outcome == "conflict" or any(gate.mood == "bad" for gate in gates):
        return "bad"
    if record.outcome in LEFT_OUT:
        return "out"
    return "good" if record.outcome == "clean" else "changed"


def _detail(record: StepRecord | None) -> str:
    if record is None:
        return ""
    if record.landed:
        return record.landed
    counts = Counter(used.kind for used in record.resolutions)
    words = [f"{count} {kind}" for kind, count in sorted(counts.items())]
    return ", ".join([*words, *(["known from before"] if record.reused else [])])


def _conflicts(repository: Repository, record: StepRecord) -> tuple[ConflictView, ...]:
    if not (record.conflicts or record.resolutions):
        return ()
    merged = repository.merger.merge(record.below, record.head) if record.kind == "merge" else None
    used = {one.path: one for one in record.resolutions}
    shown = [_conflict(repository, record, c, used.pop(c.path, None), merged) for c in record.conflicts]
    rest = [ConflictRecord(path, "fixup") for path in used]
    return (*shown, *(_conflict(repository, record, c, used[c.path], None) for c in rest))


def _conflict(
    repository: Repository,
    record: StepRecord,
    conflict: ConflictRecord,
    used: Used | None,
    merged: Merged | None,
) -> ConflictView:
    found: list[Hunk] = []
    old = repository.objects.lookup(merged.tree, conflict.path) if merged else None
    new = repository.objects.lookup(record.tree, conflict.path)
    if old and new and old.is_file and new.is_file:
        found = hunks(repository.objects.blob(old.oid), repository.objects.blob(new.oid))
    return ConflictView(
        path=conflict.path,
        kind=conflict.kind,
        reason=conflict.reason,
        where="the bare base" if conflict.where == "base" else conflict.where,
        answer=f"{used.kind} {used.id[:12]}".strip() if used else "",
        origin=_origin(used),
        hunks=tuple(found),
    )


def _origin(used: Used | None) -> tuple[tuple[str, str], ...]:
    if used is None:
        return ()
    known = used.provenance
    when = time.strftime("%Y-%m-%d", time.gmtime(known.when)) if known.when else ""
    pairs = (
        ("recorded by", known.who),
        ("on", when),
        ("source", known.source),
        ("step", known.step),
        ("path", known.path),
        ("commit", known.commit[:12]),
        ("git", known.git),
        ("reason", known.reason),
    )
    return tuple((name, value) for name, value in pairs if value)


def _gate(result: GateResult) -> GateView:
    mood = "bad" if result.bad else "good" if result.good and not result.accepted else "waiting"
    counts = ", ".join(f"{count} {name}" for name, count in result.counts.items() if count)
    return GateView(result, mood, counts, "\n".join(tail(result.log, LOG_LINES)))


def _slowest(run: Run) -> tuple[tuple[str, float, float], ...]:
    """The steps that took longest: name, seconds, share of the longest."""
    timed = [(record.name, record.elapsed_s) for record in run.steps]
    for result in run.gates:
        if not result.cached:
            timed.append((f"{result.step}: gate {result.gate}", result.elapsed_s))
    timed.sort(key=lambda pair: -pair[1])
    longest = timed[0][1] if timed and timed[0][1] > 0 else 1.0
    return tuple((name, seconds, seconds / longest) for name, seconds in timed[:12])
