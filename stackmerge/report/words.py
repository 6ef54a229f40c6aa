"""What stopped a rebuild, in plain words of one line each; whoever prints them escapes them for where they go."""

from __future__ import annotations

from stackmerge.hazard.finding import blocks
from stackmerge.record import Run, StepRecord


def conflict_words(record: StepRecord) -> list[str]:
    """Each path of a step that nothing answered, and why."""
    return [f"{found.path} ({found.kind}): {found.reason}" for found in record.unresolved]


def hazard_words(record: StepRecord) -> list[str]:
    """Each finding that blocks a step."""
    return [f"{found.rule}: {found.title} ({found.path})" for found in blocks(record.hazards)]


def stop_words(run: Run) -> str:
    """Where a rebuild stands, as one sentence."""
    last = run.steps[-1].name if run.steps else "its start"
    failed = run.failed
    if run.status == "complete":
        return {"accepted": "Accepted.", "candidate": "Complete, not accepted yet."}.get(
            run.state, f"Complete, {run.state}."
        )
    words = {
        "conflict": f"Stopped at {last}: a conflict needs a person.",
        "hazard": f"Stopped at {last}: a hazard blocks.",
        "gate": f"Stopped at {failed.step}: the gate {failed.gate} {failed.words}."
        if failed
        else "Stopped: a gate that asks for a GPU has not passed on one.",
        "proof": "Stopped: the proof failed, and the branches stay where they are.",
        "running": f"Not at its end: after {last}.",
    }
    return words.get(run.status, f"Ended with {run.status}.")
