"""A rebuild in Markdown, for the page of a CI job. What strangers wrote is escaped as in descriptions."""

from __future__ import annotations

from collections.abc import Iterator

from stackmerge.describe.escape import block, code, inline
from stackmerge.gate.outcome import GateResult, tail, unproven_on_gpu
from stackmerge.plan import PlannedStep
from stackmerge.record import LEFT_OUT, Run, StepRecord
from stackmerge.report.words import conflict_words, hazard_words, stop_words

SHORT = 12
_LOG_LINES = 20


def summary(run: Run) -> str:
    """What happened, what stopped it, a table of steps, and what was proved."""
    return "\n".join([*_head(run), *_stop(run), *_steps(run), *_proved(run)]) + "\n"


def _head(run: Run) -> Iterator[str]:
    yield f"## {code(run.plan.stack)} on {code(run.plan.base[:SHORT])}"
    yield ""
    yield f"{inline(stop_words(run))} The tip is {code(run.tip[:SHORT])}; it took {run.elapsed_s:.1f} s."
    yield ""


def _stop(run: Run) -> Iterator[str]:
    """What stopped it: the paths in conflict, what the hazard rules say, or the end of the gate's log."""
    last = run.steps[-1] if run.steps else None
    if run.status in ("conflict", "hazard"):
        for record in run.steps:
            for words in [*conflict_words(record), *hazard_words(record)]:
                yield f"- {inline(record.name)}: {inline(words)}"
        yield ""
    if run.failed:
        log = "\n".join(tail(run.failed.log, _LOG_LINES))
        yield from [block(log), ""] if log else []
    if last and run.status not in ("complete", "running"):
        yield f"To go on: {code('stackmerge continue')}, in the repository that this ran in."
        yield ""


def _steps(run: Run) -> Iterator[str]:
    records = run.by_name
    yield "| | step | outcome | commit | gates |"
    yield "|--:|---|---|---|---|"
    for number, step in enumerate(run.plan.steps, 1):
        gates = [result for result in run.gates if result.step == step.name]
        yield _row(number, step, records.get(step.name), gates)
    yield ""


def _row(number: int, step: PlannedStep, record: StepRecord | None, gates: list[GateResult]) -> str:
    name = inline(step.name) + (f"<br>{inline(step.title)}" if step.title else "")
    outcome = "not built" if record is None else record.outcome
    if record and record.landed:
        outcome += f": {record.landed}"
    commit = code(record.commit[:SHORT]) if record and record.outcome not in LEFT_OUT else ""
    said = "<br>".join(f"{inline(gate.gate)}: {inline(gate.words)}" for gate in gates)
    return f"| {number} | {name} | {inline(outcome)} | {commit} | {said} |"


def _proved(run: Run) -> Iterator[str]:
    if run.proof:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(run.proof["counts"].items()))  # type: ignore[attr-defined]
        yield f"**The proof {'holds' if run.proof['holds'] else 'FAILED'}**: {counts or 'nothing differs'}."
        yield ""
    unproven = sorted({result.gate for result in unproven_on_gpu(run.gates)})
    if unproven:
        yield f"**Not proven on a GPU**: {', '.join(map(inline, unproven))}."
