"""The journal: the record of one rebuild, step by step. Everything downstream reads it.

It is a chain of commits on ``refs/stackmerge/<stack>/journal``: each record is one commit whose message ends
in JSON, whose tree is the tree made so far, and whose further parents keep the candidate commit and the head
from being pruned. Writing a record is one object and one ref, whatever the length of the stack; steps that are
taken over from an earlier rebuild share one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from stackmerge.errors import StackmergeError
from stackmerge.gate.outcome import GateResult
from stackmerge.objects import Commit, Objects, Person
from stackmerge.plan import Plan
from stackmerge.record import LEFT_OUT, STOPPED, Run, StepRecord
from stackmerge.refs import Refs

if TYPE_CHECKING:
    from stackmerge.serving.record import Bench


def stack_ref(stack: str, name: str) -> str:
    return f"refs/stackmerge/{stack}/{name}"


class Journal:
    """Writes and reads the journal of one stack."""

    def __init__(self, objects: Objects, refs: Refs, stack: str) -> None:
        self._objects = objects
        self._refs = refs
        self.ref = stack_ref(stack, "journal")
        self._run_at = lru_cache(maxsize=4)(self._read_run)
        self._event_at = lru_cache(maxsize=10_000)(self._read_event)

    def start(self, plan: Plan, options: Mapping[str, object]) -> None:
        """Begin a new journal; the one before stays reachable only where it was accepted."""
        event = {"event": "start", "plan": plan.as_json(), "options": dict(options), "at": time.time()}
        base = self._objects.commit(plan.base)
        self._write(event, f"start on {plan.base[:12]}", base.tree, [plan.base], previous=None)

    def step(self, record: StepRecord) -> None:
        """Record what became of a step."""
        subject = f"{record.name}: {record.outcome}"
        keep = [record.commit, record.head]
        self._write({"event": "step", "step": _slim(record)}, subject, record.tree, keep)

    def taken_over(self, records: Sequence[StepRecord]) -> None:
        """Record steps, one on the other, that were taken over from an earlier rebuild; all in one record."""
        if records:
            left_out = [record.head for record in records if record.outcome in LEFT_OUT]
            event = {"event": "steps", "steps": [_slim(record) for record in records]}
            last = records[-1]
            self._write(event, f"{len(records)} steps as before", last.tree, [last.commit, *left_out])

    def end(
        self, status: str, elapsed_s: float, proof: Mapping[str, object] | None, **detail: object
    ) -> None:
        """Record how the rebuild, or this part of it, ended."""
        event = {"event": "end", "status": status, "elapsed_s": elapsed_s, "proof": proof, "detail": detail}
        self._write(event, status)

    def gate(self, result: GateResult) -> None:
        """Record what a gate proved of a step."""
        self._write(
            {"event": "gate", "result": result.as_json()}, f"{result.step}: {result.gate}: {result.words}"
        )

    def bench(self, bench: Bench) -> None:
        """Record a serving benchmark of one side of a step."""
        self._write({"event": "bench", "bench": bench.as_json()}, f"{bench.step}: measured {bench.side}")

    def resume(self, first: str = "") -> None:
        """Record that a stopped rebuild goes on: the step it stopped at counts as not done.

        With ``first``, neither that step nor any above it does.
        """
        self._write({"event": "resume", "first": first, "at": time.time()}, "continue")

    def note(self, state: str, **detail: object) -> None:
        """Record that the result is being accepted, was accepted or was given up."""
        self._write({"event": "state", "state": state, "detail": detail, "at": time.time()}, state)

    def again(self, commit: str) -> None:
        """Make the journal that ends at ``commit`` the current one, as a candidate to be accepted once more."""
        self._refs.set_own(self.ref, commit)
        self.note("candidate")

    def _write(
        self,
        event: Mapping[str, object],
        subject: str,
        tree: str | None = None,
        keep: list[str] | None = None,
        previous: str | None = "",
    ) -> None:
        last = self._refs.get(self.ref) if previous == "" else previous
        parents = list(dict.fromkeys([*([last] if last else []), *(keep or [])]))
        if tree is None:
            assert last is not None
            tree = self._objects.commit(last).tree
        writer = Person.tool(time.time())
        message = f"{subject}\n\n{json.dumps(event, sort_keys=True)}\n"
        self._refs.set_own(
            self.ref, self._objects.write_commit(Commit(tree, tuple(parents), writer, writer, message))
        )

    @property
    def last(self) -> str | None:
        """The newest journal commit, or None."""
        return self._refs.get(self.ref)

    def read(self, commit: str | None = None) -> Run | None:
        """The run that ends at ``commit`` (default: the newest). None when there is none.

        Raises StackmergeError when a record is damaged.
        """
        commit = commit or self.last
        return self._run_at(commit) if commit else None

    def _read_run(self, commit: str) -> Run:
        try:
            return _replay_events(reversed(list(self._events(commit))))
        except (ValueError, KeyError, TypeError, StopIteration) as error:
            hint = f"look at it with `git log {self.ref}`; `git update-ref -d` removes it"
            raise StackmergeError(f"the journal {self.ref} is damaged", hint) from error

    def _events(self, commit: str) -> Iterator[dict[str, object]]:
        while True:
            event, before = self._event_at(commit)
            yield event
            if event["event"] == "start":
                return
            commit = before

    def _read_event(self, commit: str) -> tuple[dict[str, object], str]:
        """One record, and the commit of the one before it."""
        found = self._objects.commit(commit)
        event = json.loads(found.message.partition("\n\n")[2])
        for key, read in _READ.items():
            if key in event:
                event[key] = read(event[key])
        return event, "".join(found.parents[:1])


def _steps(found: Iterable[Mapping[str, object]]) -> list[StepRecord]:
    return [StepRecord.from_json(step) for step in found]


def _bench(found: Mapping[str, object]) -> Bench:
    from stackmerge.serving.record import Bench  # few journals have any

    return Bench.from_json(found)


_READ: Mapping[str, Callable[[Any], object]] = {
    "plan": Plan.from_json,
    "step": StepRecord.from_json,
    "steps": _steps,
    "result": GateResult.from_json,
    "bench": _bench,
}
"""What the objects in a record are read with."""


def _slim(record: StepRecord) -> dict[str, object]:
    """A record as JSON, without what is empty."""
    found = {key: value for key, value in record._asdict().items() if value not in ((), "", False)}
    found["conflicts"] = [conflict._asdict() for conflict in record.conflicts]
    found["hazards"] = [finding._asdict() for finding in record.hazards]
    found["resolutions"] = [
        {**used._asdict(), "provenance": used.provenance.as_json()} for used in record.resolutions
    ]
    return found


def _still_done(steps: list[StepRecord], first: str) -> list[StepRecord]:
    """The steps of a resumed run that are done: those below ``first``, and not the one that it stopped at."""
    names = [step.name for step in steps]
    kept = steps[: names.index(first)] if first in names else list(steps)
    while kept and kept[-1].outcome in STOPPED:
        kept.pop()
    return kept


def _replay_events(events: Iterator[dict[str, Any]]) -> Run:
    start = next(events)
    run = Run(
        plan=start["plan"],
        options=start["options"],
        started=start["at"],
    )
    known = run._asdict()
    steps: list[StepRecord] = []
    gates: dict[tuple[str, str], GateResult] = {}
    benches: list[Bench] = []
    for event in events:
        if event["event"] == "step":
            steps.append(event["step"])
        elif event["event"] == "steps":
            steps += event["steps"]
        elif event["event"] == "gate":
            result = event["result"]
            gates[result.step, result.gate] = result
        elif event["event"] == "bench":
            benches.append(event["bench"])
        elif event["event"] == "end":
            elapsed = known["elapsed_s"] + event["elapsed_s"]
            known |= {
                "status": event["status"],
                "proof": event["proof"],
                "elapsed_s": elapsed,
                "detail": event["detail"],
            }
        elif event["event"] == "resume":
            known |= {"status": "running", "detail": {}}
            steps = _still_done(steps, str(event.get("first", "")))
            gates = {key: result for key, result in gates.items() if key[0] in {step.name for step in steps}}
        elif event["event"] == "state":
            known |= {"state": event["state"], "detail": {**known["detail"], **event["detail"]}}
    made = {"steps": tuple(steps), "gates": tuple(gates.values()), "benches": tuple(benches)}
    return Run(**{**known, **made})
