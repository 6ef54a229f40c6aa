"""What a rebuild did, will do or is doing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stackmerge.gate.outcome import GateResult, unproven_on_gpu
from stackmerge.outcome import Outcome
from stackmerge.plan import Plan
from stackmerge.record import LEFT_OUT, Run, StepRecord
from stackmerge.screen import SHORT, clean, print_json, say, table
from stackmerge.show.gates import gate_lines, gate_stop
from stackmerge.show.hazards import hazard_lines, hazard_stop
from stackmerge.show.proof import proof_lines


def step_json(record: StepRecord) -> dict[str, object]:
    return {
        "name": record.name,
        "kind": record.kind,
        "head": record.head,
        "commit": record.commit,
        "tree": record.tree,
        "outcome": record.outcome,
        "landed": record.landed,
        "reused": record.reused,
        "conflicts": [conflict._asdict() for conflict in record.conflicts],
        "resolutions": [
            {"path": u.path, "kind": u.kind, "id": u.id, "provenance": u.provenance.as_json()}
            for u in record.resolutions
        ],
        "hazards": [finding._asdict() for finding in record.hazards],
        "elapsed_s": record.elapsed_s,
    }


def gate_json(result: GateResult) -> dict[str, object]:
    return {**result.as_json(), "words": result.words}


def tree_of(run: Run) -> str:
    """The tree of the topmost step that was built; empty before the first."""
    return run.steps[-1].tree if run.steps else ""


def run_json(run: Run) -> dict[str, Any]:
    records = run.by_name
    not_made = [
        {"name": s.name, "kind": s.kind, "head": s.head, "commit": "", "tree": "", "outcome": "skipped"}
        for s in run.plan.steps
        if s.name not in records
    ]
    return {
        "status": run.status,
        "state": run.state,
        "stack": run.plan.stack,
        "base": run.plan.base,
        "tip": run.tip,
        "tree": tree_of(run),
        "steps": [*(step_json(record) for record in run.steps), *not_made],
        "proof": run.proof,
        "gates": [gate_json(result) for result in run.gates],
        "proven_on_gpu": not unproven_on_gpu(run.gates),
        "elapsed_s": run.elapsed_s,
    }


def rebuilt(outcome: Outcome, json: bool) -> None:
    """Show how a rebuild ended."""
    if json:
        print_json(outcome_json(outcome))
    outcome_lines(outcome)


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """What --json prints of a rebuild that ended."""
    extra = {"note": outcome.note, "hint": outcome.hint, "worktree": outcome.worktree}
    return {**run_json(outcome.run), **{key: value for key, value in extra.items() if value}}


def outcome_lines(outcome: Outcome) -> None:
    """The steps of a rebuild, and how it ended in words."""
    run = outcome.run
    steps_table(run.steps)
    for record in run.steps:
        _by_hand(record)
        _taken_back(record)
        _conflicts(record)
    hazard_lines(run.steps)
    if run.state == "aborted":
        say("given up; nothing has moved")
        return
    if run.status == "conflict" and outcome.worktree:
        say(f"stopped at {clean(run.steps[-1].name)}: resolve the conflict in {outcome.worktree},")
        deleted = any("delete" in conflict.kind for conflict in run.steps[-1].unresolved)
        put = "`git add` or `git rm`" if deleted else "`git add`"
        say(f"{put} the files there, then run `stackmerge continue` (or `stackmerge abort`)")
    elif run.status == "conflict":
        say("steps with conflicts were left out; rebuild without --keep-going to resolve them one by one")
    if run.status == "hazard":
        hazard_stop(run.steps[-1].name, outcome.worktree)
    if run.proof:
        proof_lines(run.proof)
    gate_lines(run.gates)
    if run.status == "gate":
        gate_stop(run.gates, outcome.worktree)
    if run.status == "proof":
        say("the proof failed: branches stay where they are; see `stackmerge verify`")
        say("`stackmerge accept --unproven REASON` takes the result, `stackmerge abort` gives it up;")
        say("`stackmerge rerere forget ID` takes a recorded answer out of the next one")
    if run.status == "complete":
        moved = "accepted" if run.state == "accepted" else run.state
        say(f"{moved}: {clean(run.plan.stack)} at {run.tip[:SHORT]} on {run.plan.base[:SHORT]}")
    if outcome.note:
        say(clean(outcome.note))
        say(f"hint: {clean(outcome.hint)}")


def planned(plan: Plan, records: Sequence[StepRecord], json: bool) -> None:
    """Show what a rebuild would do."""
    if json:
        steps = [step_json(record) for record in records]
        print_json({"stack": plan.stack, "base": plan.base, "old_base": plan.old_base, "steps": steps})
    say(f"{clean(plan.stack)} on {plan.base[:SHORT]} (now on {plan.old_base[:SHORT] or 'nothing'})")
    steps_table(records)
    for record in records:
        _taken_back(record)
        _conflicts(record)
    hazard_lines(records)


def steps_table(records: Sequence[StepRecord]) -> None:
    rows = []
    for number, record in enumerate(records, 1):
        outcome = record.outcome + (" (known)" if record.reused else "")
        commit = "" if record.outcome in LEFT_OUT else record.commit[:SHORT]
        rows.append((str(number), record.name, outcome, commit, _detail(record)))
    if rows:
        table("", ("", "step", "outcome", "commit", ""), rows)


def _detail(record: StepRecord) -> str:
    if record.landed:
        return record.landed
    counts = {
        kind: sum(u.kind == kind for u in record.resolutions) for kind in ("text", "exact", "policy", "fixup")
    }
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def _by_hand(record: StepRecord) -> None:
    if record.outcome == "by hand" and not record.reused:
        say(
            f"{clean(record.name)}: taken as it was made; no recorded answer makes the same, so a new base asks again"
        )


def _taken_back(record: StepRecord) -> None:
    if record.taken_back:
        say(f"{clean(record.name)}: warning: it was {record.landed} upstream: the result is without it")
        say("    git never merges a commit twice: to keep it, give the step a head with the change made anew")


def _conflicts(record: StepRecord) -> None:
    for conflict in record.unresolved:
        say(f"{clean(record.name)}: {clean(conflict.path)} ({conflict.kind}): {clean(conflict.reason)}")
        if conflict.symbols:
            say(f"    in {clean(conflict.inside)}")
        if conflict.where == "base":
            say(f"    {clean(record.name)} conflicts with upstream alone, without the steps below it")
        elif conflict.where:
            where = clean(conflict.where)
            say(f"    {clean(record.name)} conflicts with the step {where} below it, not with upstream alone")
