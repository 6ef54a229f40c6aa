"""Rebuild a stack on a base, step by step, and go on where it stopped.

A rebuild writes objects, the journal and a candidate; branches move only when it is accepted at the end.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from stackmerge import accept, cache, gated, plan, proof
from stackmerge.accept import NotAccepted
from stackmerge.build import Builder
from stackmerge.errors import Exit, StackmergeError, UsageError
from stackmerge.gate.outcome import GateResult, unproven_on_gpu
from stackmerge.hazard import blocks
from stackmerge.hazard import load as load_rules
from stackmerge.hazard.evaluate import Examined
from stackmerge.hazarded import Hazards
from stackmerge.journal import DONE, STOPPED, ConflictRecord, Run, StepRecord, stack_ref
from stackmerge.learn import learn
from stackmerge.plan import Plan, PlannedStep
from stackmerge.resolution import Provenance, Resolutions
from stackmerge.stack import Stack
from stackmerge.worktree import ConflictTree


@dataclass(frozen=True)
class Options:
    """How to rebuild. ``first`` is the step to begin with; those before it are taken as they are.

    ``gates`` is the order of gating: step, tip or off; ``require_gpu``: a gate that asks for a GPU must pass on one.
    ``apply_hazard_edits``: make the edits that a rule prescribes where it blocks, and go on.
    """

    first: str = ""
    keep_going: bool = False
    fresh: bool = False
    gates: str = "step"
    require_gpu: bool = False
    apply_hazard_edits: bool = False


@dataclass(frozen=True)
class Outcome:
    """How a rebuild ended. ``note`` says why a good result was not accepted; ``worktree`` where a person must edit."""

    run: Run
    note: str = ""
    hint: str = ""
    worktree: str = ""

    @property
    def exit_code(self) -> Exit:
        by_status = {
            "complete": Exit.DONE,
            "conflict": Exit.CONFLICT,
            "hazard": Exit.HAZARD,
            "gate": Exit.GATE,
            "proof": Exit.PROOF,
        }
        return by_status.get(self.run.status, Exit.ERROR)


Watch = Callable[[PlannedStep, StepRecord | None], None]
Tell = Callable[[str], None]


def _silent(_: str) -> None:
    return


def rebuild(
    stack: Stack, onto: str | None, options: Options, watch: Watch = lambda *_: None, tell: Tell = _silent
) -> Outcome:
    """Rebuild ``stack`` on ``onto`` (default: its base). Raises StackmergeError when it cannot begin."""
    with stack.exclusive():
        _refuse_stopped(stack)
        stack.repository.keep_commit_graph()
        made = plan.make(stack.repository, stack.manifest, stack.lock, onto)
        if options.first and options.first not in {step.name for step in made.steps}:
            raise UsageError(f"--from: there is no step {options.first!r}", "see `stackmerge plan`")
        known = _known_results(stack)
        if options.first:
            _Rebuild(stack, made, options, known, watch, tell).check_first()
        stack.keep_heads({s.name: s.head for s in made.steps if not _pinned(stack, s)})
        stack.journal.start(made, vars(options))
        return _Rebuild(stack, made, options, known, watch, tell).run(())


def resume(
    stack: Stack,
    watch: Watch = lambda *_: None,
    tell: Tell = _silent,
    accept_failure: str = "",
    apply_hazard_edits: bool = False,
) -> Outcome:
    """Go on with a rebuild that stopped or was killed; records what a person resolved meanwhile.

    ``accept_failure`` is a reason to go on in spite of the gate that failed; ``apply_hazard_edits`` as in `Options`.
    """
    with stack.exclusive():
        run = stack.last_run()
        if run is None or run.state in ("accepted", "aborted"):
            raise StackmergeError(
                f"no rebuild of {stack.name!r} is under way", "start one with `stackmerge rebuild`"
            )
        if run.status == "complete":
            return _finish(stack, run)
        options = Options(**run.options)  # type: ignore[arg-type]
        options = replace(options, apply_hazard_edits=options.apply_hazard_edits or apply_hazard_edits)
        going = _Rebuild(stack, run.plan, options, _known_results(stack), watch, tell)
        if accept_failure:
            _accept_failure(stack, run, accept_failure)
        if run.status in STOPPED and not options.keep_going:
            return going.take_resolution(run)
        stack.journal.resume()
        return going.run(_done(run))


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
    builder = _builder(stack, made, stack.repository.resolutions())
    known = _known_results(stack)
    below, records = made.base, []
    for step in made.steps:
        records.append(builder.build(step, below, known[step.name]))
        below = records[-1].commit
    return made, records


def _builder(stack: Stack, made: Plan, resolutions: Resolutions) -> Builder:
    return Builder(stack.repository, resolutions, stack.manifest.policies, made.base, hazards_of(stack))


def hazards_of(stack: Stack) -> Hazards:
    """The rules that apply to a stack: the shipped ones, and those in the ``hazards`` folder of its repository."""
    allow = {step.name: step.allow for step in stack.manifest.steps}
    return Hazards(stack.repository, load_rules([stack.manifest.path.parent / "hazards"]), allow)


def check_hazards(stack: Stack, name: str = "") -> list[StepRecord]:
    """What the rules of today say of the steps of the last rebuild; of the plan's before the first.

    ``name`` is one step, empty for all. Raises UsageError where there is no such step.
    """
    run = stack.last_run()
    made, records = (run.plan, list(run.steps)) if run else predict(stack, None)
    chosen = [record for record in records if name in ("", record.name)]
    if name and not chosen:
        raise UsageError(f"there is no step {name!r} in the last rebuild", "see `stackmerge status`")
    builder = _builder(stack, made, stack.repository.resolutions())
    planned = {step.name: step for step in made.steps}
    checked = []
    for record in records:
        if record in chosen and record.outcome not in ("landed", "empty"):
            tree = None if record.outcome == "conflict" else record.tree
            paths = [conflict.path for conflict in record.conflicts]
            examined = builder.hazards(planned[record.name], record.below, tree, paths)
            checked.append(
                replace(
                    record,
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


def _refuse_stopped(stack: Stack) -> None:
    run = stack.last_run()
    if run and run.state == "accepting":
        raise StackmergeError(
            "the last rebuild was killed while its branches moved", "run `stackmerge continue`"
        )
    if run and run.state == "candidate" and ConflictTree(stack.repository, stack.name).exists:
        stopped = run.steps[-1].name if run.steps else "its start"
        raise StackmergeError(
            f"a rebuild of {stack.name!r} is stopped at {stopped}",
            "`stackmerge continue` or `stackmerge abort` it first",
        )


def _known_results(stack: Stack) -> dict[str, list[StepRecord]]:
    """Results of earlier rebuilds by step: the last accepted one, and the newest whatever its end."""
    known: dict[str, list[StepRecord]] = defaultdict(list)
    for run in (stack.last_run(), accept.last_accepted(stack.repository, stack.journal, stack.name)):
        for record in run.steps if run else ():
            if record.outcome in DONE:
                known[record.name].append(record)
    return known


def _done(run: Run) -> tuple[StepRecord, ...]:
    """The steps of a stopped run up to the one that it stopped at."""
    done = []
    for record in run.steps:
        if record.outcome in STOPPED and not run.options.get("keep_going"):
            break
        done.append(record)
    return tuple(done)


class _Rebuild:
    """One run over the steps of a plan."""

    def __init__(
        self,
        stack: Stack,
        made: Plan,
        options: Options,
        known: dict[str, list[StepRecord]],
        watch: Watch,
        tell: Tell,
    ) -> None:
        self._stack = stack
        self._repository = stack.repository
        self._plan = made
        self._options = options
        self._known = known
        self._watch = watch
        self._tell = tell
        self._resolutions = stack.repository.resolutions()
        self._builder = _builder(stack, made, self._resolutions)
        self._started = time.perf_counter()

    def run(self, done: Sequence[StepRecord], by_hand: str = "") -> Outcome:
        """Build the steps that are not in ``done``; the first of them from ``by_hand`` where that is given."""
        records = list(done)
        self._builder.note_landed(records)
        before_first = bool(self._options.first)
        for step in self._plan.steps[len(done) :]:
            before_first = before_first and step.name != self._options.first
            record = self._build(step, records, by_hand, must_reuse=before_first)
            by_hand = ""
            records.append(record)
            self._stack.journal.step(record)
            self._watch(step, record)
            if record.outcome in STOPPED and not self._options.keep_going:
                return self._stop(step, record)
        stopped = [record.outcome for record in records if record.outcome in STOPPED]
        if stopped:
            return self._end("conflict" if "conflict" in stopped else "hazard")
        return self._prove()

    def check_first(self) -> None:
        """Raise UsageError unless there is a result to take of every step below the one to begin with."""
        records: list[StepRecord] = []
        for step in self._plan.steps:
            if step.name == self._options.first:
                return
            records.append(self._build(step, records, "", must_reuse=True))

    def _build(
        self, step: PlannedStep, records: list[StepRecord], by_hand: str, *, must_reuse: bool
    ) -> StepRecord:
        below = records[-1].commit if records else self._plan.base
        self._watch(step, None)
        known = [] if self._options.fresh and not must_reuse else self._known[step.name]
        record = self._builder.build(step, below, known, by_hand)
        if record.outcome == "hazard" and self._options.apply_hazard_edits:
            record = self._rebuilt_with_edits(step, record)
        if must_reuse and not record.reused:
            raise UsageError(
                f"--from {self._options.first}: step {step.name!r} below it has no result on this base",
                "rebuild without --from",
            )
        if record.outcome == "conflict":
            record = replace(
                record, conflicts=tuple(self._located(step, c, records) for c in record.conflicts)
            )
        return record

    def _located(
        self, step: PlannedStep, conflict: ConflictRecord, records: Sequence[StepRecord]
    ) -> ConflictRecord:
        if not conflict.reason or conflict.kind == "fixup":
            return conflict
        return replace(conflict, where=self._builder.where_it_conflicts(step, conflict.path, records))

    def _stop(self, step: PlannedStep, record: StepRecord) -> Outcome:
        """Lay out the conflict, or what a hazard blocks, for a person."""
        tree = ConflictTree(self._repository, self._stack.name)
        conflicts = self._builder.unresolved(step, record.below) if record.outcome == "conflict" else []
        tree.check_out(step, record.below, record.tree, conflicts)
        return replace(self._end(record.outcome), worktree=str(tree.path))

    def _rebuilt_with_edits(self, step: PlannedStep, record: StepRecord) -> StepRecord:
        """A blocked step once more, with the prescribed edits made and recorded as the answer."""
        result = self._builder.edited(step, record.below, record.tree)
        self._forget_wrong(record, result)
        self._record_resolution(step, record.below, result, "hazard")
        return self._builder.build(step, record.below, (), by_hand=result)

    def _forget_wrong(self, record: StepRecord, result: str) -> None:
        """Forget the recorded answers that made the blocked result: two answers that disagree replay neither."""
        different = self._repository.objects.diff(record.tree, result)
        for used in record.resolutions:
            if used.kind == "text" and used.path in different:
                self._resolutions.forget(used.key)

    def take_resolution(self, run: Run) -> Outcome:
        """Take what a person made of the conflict, record it, and go on."""
        stopped = run.steps[-1]
        step = run.planned(stopped.name)
        done = _done(run)
        self._builder.note_landed(done)
        tree = ConflictTree(self._repository, self._stack.name)
        if not tree.exists:
            self._stack.journal.resume()
            return self.run(done)
        result = tree.result(stopped.below, self._repository.objects.commit(step.head).tree)
        source = "hand"
        examined = self._builder.hazards(step, stopped.below, result, (c.path for c in stopped.conflicts))
        if blocks(examined.findings) and self._options.apply_hazard_edits:
            result, source = self._builder.edited(step, stopped.below, result), "hazard"
        elif blocks(examined.findings):
            return self._still_blocked(stopped, result, examined, tree)
        if stopped.outcome == "hazard":
            self._forget_wrong(stopped, result)
        self._record_resolution(step, stopped.below, result, source)
        self._stack.journal.resume()
        outcome = self.run(done, by_hand=result)
        if outcome.run.status not in STOPPED:
            tree.remove()
        return outcome

    def _still_blocked(
        self, stopped: StepRecord, result: str, examined: Examined, tree: ConflictTree
    ) -> Outcome:
        """What a person made is blocked: it is not recorded, and stays where they can go on with it."""
        self._stack.journal.resume()
        self._stack.journal.step(
            replace(
                stopped,
                tree=result,
                outcome="hazard",
                conflicts=tuple(replace(c, reason="") for c in stopped.conflicts),
                hazards=examined.findings,
                rules=examined.matched,
                gates=examined.gates,
            )
        )
        return replace(self._end("hazard"), worktree=str(tree.path))

    def _record_resolution(self, step: PlannedStep, below: str, result: str, source: str) -> None:
        provenance = Provenance(
            source=source,
            step=step.name,
            head=step.head,
            parents=(below, step.head),
            who=self._repository.identity(),
            when=int(time.time()),
            git=self._repository.git.version_text,
        )
        learn(self._repository, self._resolutions, self._builder.merge(step, below), result, provenance)
        cache.save(self._repository, self._resolutions, f"resolve {step.name}")

    def _prove(self) -> Outcome:
        run = self._stack.last_run()
        old = accept.last_accepted(self._repository, self._stack.journal, self._stack.name)
        assert run is not None
        self._repository.refs.set_own(stack_ref(self._stack.name, "candidate"), run.tip)
        proved = proof.prove_run(self._repository, old, run) if old else None
        if proved and not proved.holds:
            return self._end("proof", proved)
        status = self._gate(run)
        outcome = self._end(status, proved)
        return _finish(self._stack, outcome.run) if status == "complete" else outcome

    def _gate(self, run: Run) -> str:
        """Gate the steps; the status that this gives the rebuild."""
        found = gated.gate_run(self._stack, run, self._options.gates, self._stack.journal.gate, self._tell)
        short = unproven_on_gpu(found.results) if self._options.require_gpu else []
        return "gate" if found.failed or short else "complete"

    def _end(self, status: str, proved: proof.Proof | None = None) -> Outcome:
        elapsed = round(time.perf_counter() - self._started, 4)
        self._stack.journal.end(status, elapsed, proved.as_json() if proved else None)
        run = self._stack.last_run()
        assert run is not None
        return Outcome(run)


def _accept_failure(stack: Stack, run: Run, reason: str) -> None:
    """Record that a person takes the gate's failure, and why."""
    failed = next((result for result in reversed(run.gates) if result.bad), None)
    if failed is None:
        raise UsageError("--accept-failure: no gate has failed", "see `stackmerge status`")
    stack.journal.gate(replace(failed, accepted=reason))


def _finish(stack: Stack, run: Run) -> Outcome:
    """Accept a complete rebuild, or say why it stays a candidate."""
    try:
        accept.accept(stack.repository, stack.journal, run, stack.manifest.lock_path)
    except NotAccepted as error:
        return Outcome(run, note=error.message, hint=error.hint)
    accepted = stack.last_run()
    assert accepted is not None
    return Outcome(accepted)


def conflicts_of(records: Iterable[StepRecord]) -> list[tuple[str, ConflictRecord]]:
    """Every unresolved conflict with its step."""
    return [(record.name, conflict) for record in records for conflict in record.unresolved]


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
        if run.status == "proof" and not reason:
            raise StackmergeError(
                "the proof of this candidate failed", "look at `verify`; --unproven REASON overrides"
            )
        if run.status not in ("complete", "proof"):
            raise StackmergeError(f"the rebuild is not done: {run.status}", "`stackmerge continue` it first")
        if reason:
            stack.journal.note("candidate", unproven=reason)
        accept.accept(stack.repository, stack.journal, run, stack.manifest.lock_path, force=force)
        return run


def gate_again(stack: Stack, step: str, gate: str, tell: Tell = _silent) -> list[GateResult]:
    """Run the gates of one step of the last rebuild, whatever is known of them."""
    with stack.exclusive():
        return gated.gate_by_hand(stack, _last_built(stack), step, gate, tell)


def bisect_gate(stack: Stack, gate: str, tell: Tell = _silent) -> gated.Bisected:
    """The first step of the last rebuild that a gate fails on."""
    with stack.exclusive():
        return gated.bisect(stack, _last_built(stack), gate, tell)


def _last_built(stack: Stack) -> Run:
    run = stack.last_run()
    if run is None:
        raise StackmergeError(f"{stack.name!r} has not been rebuilt yet", "start with `stackmerge rebuild`")
    return run
