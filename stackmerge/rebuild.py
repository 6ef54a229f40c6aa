"""Rebuild a stack on a base, step by step, and go on where it stopped.

A rebuild writes objects, the journal and a candidate; branches move only when it is accepted at the end.
"""

from __future__ import annotations

from collections import defaultdict

from stackmerge import accept, gated, plan
from stackmerge.errors import StackmergeError, UsageError
from stackmerge.gate.outcome import GateResult
from stackmerge.outcome import Options, Outcome
from stackmerge.plan import Plan, PlannedStep
from stackmerge.progress.event import Tell, silent
from stackmerge.progress.presence import Presence
from stackmerge.rebuilding import Rebuilding, builder_of, done_of, finish
from stackmerge.record import DONE, STOPPED, Run, StepRecord
from stackmerge.stack import Stack
from stackmerge.stopped import refuse_stopped
from stackmerge.worktree import ConflictTree


def rebuild(stack: Stack, onto: str | None, options: Options, tell: Tell = silent) -> Outcome:
    """Rebuild ``stack`` on ``onto`` (default: its base). Raises StackmergeError when it cannot begin."""
    with stack.exclusive(), Presence(stack.directory, tell) as telling:
        return _ended(_rebuild(stack, onto, options, telling), telling)


def resume(
    stack: Stack, tell: Tell = silent, accept_failure: str = "", apply_hazard_edits: bool = False
) -> Outcome:
    """Go on with a rebuild that stopped or was killed; records what a person resolved meanwhile.

    ``accept_failure`` is a reason to go on in spite of the gate that failed; ``apply_hazard_edits`` as in `Options`.
    """
    with stack.exclusive(), Presence(stack.directory, tell) as telling:
        return _ended(_resume(stack, telling, accept_failure, apply_hazard_edits), telling)


def _ended(outcome: Outcome, tell: Tell) -> Outcome:
    tell(outcome.end)
    return outcome


def _rebuild(stack: Stack, onto: str | None, options: Options, tell: Tell) -> Outcome:
    gated.check_order(options.gates)
    refuse_stopped(stack)
    stack.repository.keep_commit_graph()
    made = plan.make(stack.repository, stack.manifest, stack.lock, onto)
    if options.first and options.first not in {step.name for step in made.steps}:
        raise UsageError(f"--from: there is no step {options.first!r}", "see `stackmerge plan`")
    _begin(stack, made, options)
    known = _known_results(stack)
    if options.first:
        Rebuilding(stack, made, options, known, silent).check_first()
    stack.keep_heads({s.name: s.head for s in made.steps if not _pinned(stack, s)})
    stack.journal.start(made, options._asdict())
    return Rebuilding(stack, made, options, known, tell).run(())


def _begin(stack: Stack, made: Plan, options: Options) -> None:
    """Have git start on the first merge, where no earlier result can stand for it."""
    first = made.steps[0] if made.steps else None
    if first and first.kind == "merge" and not first.landed and (options.fresh or made.base != made.old_base):
        stack.repository.merger.begin(made.base, first.head)


def _resume(stack: Stack, tell: Tell, accept_failure: str, apply_hazard_edits: bool) -> Outcome:
    run = stack.last_run()
    if run is None or run.state in ("accepted", "aborted"):
        raise StackmergeError(
            f"no rebuild of {stack.name!r} is under way", "start one with `stackmerge rebuild`"
        )
    if run.status == "complete":
        return finish(stack, run)
    if run.kept_going:
        raise StackmergeError(
            "that rebuild went on to its end and left out what conflicts: nothing waits for a person",
            "rebuild without --keep-going to resolve it step by step",
        )
    options = Options(**run.options)  # type: ignore[arg-type]
    options = options._replace(apply_hazard_edits=options.apply_hazard_edits or apply_hazard_edits)
    going = Rebuilding(stack, run.plan, options, _known_results(stack), tell)
    if accept_failure:
        _accept_failure(stack, run, accept_failure)
    elif run.status == "gate":
        return going.take_fix(run)
    if run.status in STOPPED:
        return going.take_resolution(run)
    stack.journal.resume()
    return going.run(done_of(run))


def abort(stack: Stack) -> None:
    """Give up the rebuild that is under way; nothing but our own refs and work tree changes."""
    with stack.exclusive():
        run = stack.last_run()
        if run is None or run.state in ("accepted", "aborted"):
            raise StackmergeError(f"no rebuild of {stack.name!r} is under way", "")
        if run.state == "accepting":
            raise StackmergeError(
                "its branches are being moved already", "run `stackmerge continue`, then `undo`"
            )
        ConflictTree(stack.repository, stack.name).remove()
        stack.journal.note("aborted")


def predict(stack: Stack, onto: str | None) -> tuple[Plan, list[StepRecord]]:
    """What a rebuild would do, writing nothing but objects; conflicts are skipped as --keep-going does."""
    made = plan.make(stack.repository, stack.manifest, stack.lock, onto)
    builder = builder_of(stack, made, stack.repository.resolutions())
    known = _known_results(stack)
    below, records = made.base, []
    for step in made.steps:
        records.append(builder.taken_over(step, below, known[step.name]) or builder.build(step, below))
        below = records[-1].commit
    return made, records


def check_hazards(stack: Stack, name: str = "") -> list[StepRecord]:
    """What the rules of today say of the steps of the last rebuild; of the plan's before the first.

    ``name`` is one step, empty for all. Raises UsageError where there is no such step.
    """
    run = stack.last_run()
    made, records = (run.plan, list(run.steps)) if run else predict(stack, None)
    chosen = [record for record in records if name in ("", record.name)]
    if name and not chosen:
        raise UsageError(f"there is no step {name!r} in the last rebuild", "see `stackmerge status`")
    builder = builder_of(stack, made, stack.repository.resolutions())
    planned = {step.name: step for step in made.steps}
    checked = []
    for record in records:
        if record in chosen and record.outcome not in ("landed", "empty"):
            tree = None if record.outcome == "conflict" else record.tree
            paths = [conflict.path for conflict in record.conflicts]
            examined = builder.hazards(planned[record.name], record.below, tree, paths)
            checked.append(
                record._replace(
                    hazards=examined.findings,
                    rules=examined.matched,
                    gates=examined.gates,
                    reused=False,
                )
            )
        builder.note_landed([record])
    return checked


def _pinned(stack: Stack, step: PlannedStep) -> bool:
    pin = stack.lock.steps.get(step.name)
    return pin is not None and pin.head == step.head


def _known_results(stack: Stack) -> dict[str, list[StepRecord]]:
    """Results of earlier rebuilds by step: the last accepted one, and the newest whatever its end."""
    known: dict[str, list[StepRecord]] = defaultdict(list)
    for run in (stack.last_run(), accept.last_accepted(stack.repository, stack.journal, stack.name)):
        for record in run.steps if run else ():
            if record.outcome in DONE:
                known[record.name].append(record)
    return known


def _accept_failure(stack: Stack, run: Run, reason: str) -> None:
    """Record that a person takes the gate's failure, and why."""
    if run.failed is None:
        raise UsageError("--accept-failure: no gate has failed", "see `stackmerge status`")
    tree = ConflictTree(stack.repository, stack.name)
    if tree.exists and not tree.untouched(run.by_name[run.failed.step].tree):
        raise StackmergeError(
            f"--accept-failure takes {run.failed.step} as it failed, and {tree.path} has changes",
            "`continue` without it takes them; or undo them there first",
        )
    stack.journal.gate(run.failed._replace(accepted=reason))


def current(stack: Stack) -> Outcome | None:
    """The last rebuild as it stands; None before the first."""
    run = stack.last_run()
    if run is None:
        return None
    tree = ConflictTree(stack.repository, stack.name)
    return Outcome(run, worktree=str(tree.path) if tree.exists and run.state == "candidate" else "")


def accept_candidate(stack: Stack, *, force: bool, reason: str) -> Run:
    """Accept the candidate of the last rebuild. Raises StackmergeError where there is none that may be."""
    with stack.exclusive():
        run = stack.last_run()
        if run is None or run.state in ("accepted", "aborted"):
            raise StackmergeError("there is no candidate to accept", "`stackmerge rebuild` makes one")
        if run.status == "proof" and not reason and "unproven" not in run.detail:  # said once is enough
            raise StackmergeError(
                "the proof of this candidate failed", "look at `verify`; --unproven REASON overrides"
            )
        if run.status not in ("complete", "proof"):
            hint = "rebuild without --keep-going" if run.kept_going else "`stackmerge continue` it first"
            raise StackmergeError(f"the rebuild is not done: {run.status}", hint)
        if reason:
            stack.journal.note("candidate", unproven=reason)
        accept.accept(stack.repository, stack.journal, run, stack.manifest.lock_path, force=force)
        return run


def gate_again(stack: Stack, step: str, gate: str, tell: Tell = silent) -> list[GateResult]:
    """Run the gates of one step of the last rebuild, whatever is known of them."""
    with stack.exclusive():
        return gated.gate_by_hand(stack, _last_built(stack), step, gate, tell)


def bisect_gate(stack: Stack, gate: str, tell: Tell = silent) -> gated.Bisected:
    """The first step of the last rebuild that a gate fails on."""
    with stack.exclusive():
        return gated.bisect(stack, _last_built(stack), gate, tell)


def _last_built(stack: Stack) -> Run:
    run = stack.last_run()
    if run is None:
        raise StackmergeError(f"{stack.name!r} has not been rebuilt yet", "start with `stackmerge rebuild`")
    return run
