"""One rebuild at work: the steps one after the other, the stops, the proof, the gates and the end."""

from __future__ import annotations

import time
from collections.abc import Sequence

from stackmerge import accept, gated, proof
from stackmerge.accept import NotAccepted
from stackmerge.ancestry import Ancestry
from stackmerge.build import Builder, Upcoming
from stackmerge.errors import StackmergeError, UsageError
from stackmerge.gate.outcome import unproven_on_gpu
from stackmerge.hazard.finding import Examined, blocks
from stackmerge.hazard.library import load as load_rules
from stackmerge.hazarded import Hazards, symbols_of
from stackmerge.journal import stack_ref
from stackmerge.outcome import Options, Outcome
from stackmerge.plan import Plan, PlannedStep
from stackmerge.progress.event import ACCEPTING, GATING, PROVING, Stage, Start, StepEnd, StepStart, Tell
from stackmerge.record import STOPPED, ConflictRecord, Run, StepRecord
from stackmerge.resolution import Provenance
from stackmerge.resolutions import Resolutions
from stackmerge.stack import Stack
from stackmerge.worktree import ConflictTree


def builder_of(stack: Stack, made: Plan, resolutions: Resolutions) -> Builder:
    repository = stack.repository
    ancestry = Ancestry(repository.git, repository.objects, made.base, (step.head for step in made.steps))
    hazards = hazards_of(stack, ancestry)
    return Builder(repository, resolutions, stack.manifest.policies, made.base, hazards, ancestry)


def hazards_of(stack: Stack, ancestry: Ancestry) -> Hazards:
    """The rules that apply to a stack: the shipped ones, and those in the ``hazards`` folder of its repository."""
    allow = {step.name: step.allow for step in stack.manifest.steps}
    rules = load_rules([stack.manifest.path.parent / "hazards"])
    for gate in stack.manifest.gates:
        unknown = [name for name in gate.on.hazards if name not in {rule.id for rule in rules}]
        if unknown:
            raise UsageError(
                f"the gate {gate.name!r}: `on.hazards` names {unknown[0]!r}, which is no rule",
                "see `stackmerge hazards list`",
            )
    return Hazards(stack.repository, rules, allow, ancestry)


def done_of(run: Run) -> tuple[StepRecord, ...]:
    """The steps of a stopped run up to the one that it stopped at."""
    done = []
    for record in run.steps:
        if record.outcome in STOPPED and not run.options.get("keep_going"):
            break
        done.append(record)
    return tuple(done)


class Rebuilding:
    """One run over the steps of a plan."""

    def __init__(
        self,
        stack: Stack,
        made: Plan,
        options: Options,
        known: dict[str, list[StepRecord]],
        tell: Tell,
    ) -> None:
        self._stack = stack
        self._repository = stack.repository
        self._plan = made
        self._options = options
        self._known = known
        self._tell = tell
        self._resolutions = stack.repository.resolutions()
        self._builder = builder_of(stack, made, self._resolutions)
        self._taken_over: list[StepRecord] = []
        self._started = time.perf_counter()

    def run(self, done: Sequence[StepRecord], by_hand: str = "") -> Outcome:
        """Build the steps that are not in ``done``; the first of them from ``by_hand`` where that is given."""
        try:
            return self._run(list(done), by_hand)
        finally:
            self._record_taken_over()

    def _run(self, records: list[StepRecord], by_hand: str) -> Outcome:
        self._tell(Start(self._plan, tuple(records)))
        self._builder.note_landed(records)
        before_first = bool(self._options.first)
        for step in self._plan.steps[len(records) :]:
            before_first = before_first and step.name != self._options.first
            record = self._build(step, records, by_hand, must_reuse=before_first)
            by_hand = ""
            records.append(record)
            self._record(record)
            self._tell(StepEnd(len(records), record))
            if record.outcome in STOPPED and not self._options.keep_going:
                return self._stop(step, record)
        self._record_taken_over()
        if [record.name for record in records] != [step.name for step in self._plan.steps]:
            raise StackmergeError(
                f"the journal of {self._stack.name!r} does not hold each step once",
                "`stackmerge abort`, then rebuild",
            )
        stopped = [record.outcome for record in records if record.outcome in STOPPED]
        if stopped:
            return self._end("conflict" if "conflict" in stopped else "hazard")
        return self._prove()

    def _record(self, record: StepRecord) -> None:
        """Write down a step at once; one that was only taken over, when another is built or none is left."""
        if record.reused and record.outcome not in STOPPED:
            self._taken_over.append(record)
        else:
            self._record_taken_over()
            self._stack.journal.step(record)

    def _record_taken_over(self) -> None:
        records, self._taken_over = self._taken_over, []  # an interrupted write must not be made twice
        self._stack.journal.taken_over(records)

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
        self._tell(StepStart(len(records) + 1, step))
        known = [] if self._options.fresh and not must_reuse else self._known[step.name]
        record = self._builder.taken_over(step, below, known) if not by_hand else None
        if record is None:
            self._record_taken_over()  # what is built may take long, or never end
            record = self._builder.build(step, below, by_hand, self._upcoming(len(records) + 1))
        if record.outcome == "hazard" and self._options.apply_hazard_edits:
            record = self._rebuilt_with_edits(step, record)
        if must_reuse and not record.reused:
            raise UsageError(
                f"--from {self._options.first}: step {step.name!r} below it has no result on this base",
                "rebuild without --from",
            )
        if record.outcome == "conflict":
            record = record._replace(
                conflicts=tuple(self._located(step, record.tree, c, records) for c in record.conflicts)
            )
        return record

    def _upcoming(self, at: int) -> Upcoming | None:
        if at >= len(self._plan.steps):
            return None
        step = self._plan.steps[at]
        return Upcoming(step, [] if self._options.fresh else self._known[step.name])

    def _located(
        self, step: PlannedStep, tree: str, conflict: ConflictRecord, records: Sequence[StepRecord]
    ) -> ConflictRecord:
        if not conflict.reason or conflict.kind == "fixup":
            return conflict
        return conflict._replace(
            where=self._builder.where_it_conflicts(step, conflict.path, records),
            symbols=symbols_of(self._repository.objects, tree, conflict.path),
        )

    def _stop(self, step: PlannedStep, record: StepRecord) -> Outcome:
        """Lay out the conflict, or what a hazard blocks, for a person."""
        tree = ConflictTree(self._repository, self._stack.name)
        conflicts = self._builder.unresolved(step, record.below) if record.outcome == "conflict" else []
        tree.check_out(step, record.below, record.tree, conflicts)
        return self._end(record.outcome)._replace(worktree=str(tree.path))

    def _rebuilt_with_edits(self, step: PlannedStep, record: StepRecord) -> StepRecord:
        """A blocked step once more, with the prescribed edits made and recorded as the answer."""
        result = self._builder.edited(step, record.below, record.tree)
        self._record_resolution(step, record.below, result, "hazard")
        return self._builder.build(step, record.below, by_hand=result)

    def take_resolution(self, run: Run) -> Outcome:
        """Take what a person made of the conflict, record it, and go on."""
        stopped = run.steps[-1]
        step = run.planned(stopped.name)
        done = done_of(run)
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
        self._record_resolution(step, stopped.below, result, source)
        self._stack.journal.resume()
        outcome = self.run(done, by_hand=result)
        if not outcome.worktree:
            tree.remove()
        return outcome

    def _still_blocked(
        self, stopped: StepRecord, result: str, examined: Examined, tree: ConflictTree
    ) -> Outcome:
        """What a person made is blocked: it is not recorded, and stays where they can go on with it."""
        self._stack.journal.resume()
        self._stack.journal.step(
            stopped._replace(
                tree=result,
                outcome="hazard",
                conflicts=tuple(c._replace(reason="") for c in stopped.conflicts),
                hazards=examined.findings,
                rules=examined.matched,
                gates=examined.gates,
            )
        )
        return self._end("hazard")._replace(worktree=str(tree.path))

    def _record_resolution(self, step: PlannedStep, below: str, result: str, source: str) -> None:
        from stackmerge import cache
        from stackmerge.learn import learn

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
        self._tell(Stage(PROVING))
        run = self._stack.last_run()
        old = accept.last_accepted(self._repository, self._stack.journal, self._stack.name)
        assert run is not None
        self._repository.refs.set_own(stack_ref(self._stack.name, "candidate"), run.tip)
        proved = proof.prove_run(self._repository, old, run) if old else None
        if proved and not proved.holds:
            same = accept.accepted_same(self._repository, self._stack.journal, run)
            proved = proof.prove_run(self._repository, same, run) if same else proved
        if proved and not proved.holds:
            return self._end("proof", proved)
        return self._gate(run, proved)

    def _gate(self, run: Run, proved: proof.Proof | None) -> Outcome:
        """Gate the steps; accept what passes, and lay out the step that does not for a person."""
        tree = ConflictTree(self._repository, self._stack.name)
        if self._options.gates != "off" and self._stack.manifest.gates:
            self._tell(Stage(GATING))
        found = gated.gate_run(self._stack, run, self._options.gates, self._stack.journal.gate, self._tell)
        if found.failed:
            record = run.by_name[found.failed.step]
            tree.check_out(run.planned(record.name), record.below, record.tree, [])
            return self._end("gate", proved)._replace(worktree=str(tree.path))
        if self._options.require_gpu and unproven_on_gpu(found.results):
            return self._end("gate", proved)
        tree.remove()
        self._tell(Stage(ACCEPTING))
        return finish(self._stack, self._end("complete", proved).run)

    def take_fix(self, run: Run) -> Outcome:
        """Go on after a gate: take what a person changed in the step that failed, or only run the gate again."""
        tree = ConflictTree(self._repository, self._stack.name)
        if run.failed is None or not tree.exists:
            self._stack.journal.resume()
            return self.run(done_of(run))
        record, step = run.by_name[run.failed.step], run.planned(run.failed.step)
        result = tree.result(record.below, self._repository.objects.commit(step.head).tree)
        if result == record.tree:
            self._stack.journal.resume()
            return self.run(done_of(run))
        done = run.steps[: run.steps.index(record)]
        self._builder.note_landed(done)
        self._record_resolution(step, record.below, result, "hand")
        self._stack.journal.resume(first=step.name)
        outcome = self.run(done, by_hand=result)
        if not outcome.worktree:
            tree.remove()
        return outcome

    def _end(self, status: str, proved: proof.Proof | None = None) -> Outcome:
        elapsed = round(time.perf_counter() - self._started, 4)
        self._stack.journal.end(status, elapsed, proved.as_json() if proved else None)
        run = self._stack.last_run()
        assert run is not None
        return Outcome(run)


def finish(stack: Stack, run: Run) -> Outcome:
    """Accept a complete rebuild, or say why it stays a candidate."""
    try:
        accept.accept(stack.repository, stack.journal, run, stack.manifest.lock_path)
    except NotAccepted as error:
        return Outcome(run, note=error.message, hint=error.hint)
    accepted = stack.last_run()
    assert accepted is not None
    return Outcome(accepted)
