"""What is recorded of one rebuild: of each of its steps, and of the whole as the journal tells it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from stackmerge.answer import Used
from stackmerge.gate.outcome import GateResult
from stackmerge.hazard.finding import Finding
from stackmerge.landed import TAKEN_BACK
from stackmerge.plan import Plan, PlannedStep
from stackmerge.resolution import Provenance

if TYPE_CHECKING:
    from stackmerge.serving.record import Bench

DONE = ("clean", "replayed", "fixup", "by hand", "landed", "empty")
STOPPED = ("conflict", "hazard")
_NAMED = 5
LEFT_OUT = ("landed", "empty", "skipped", *STOPPED)


class ConflictRecord(NamedTuple):
    """A path that git left unmerged in a step. ``reason`` says why nothing replayed; empty when something did.

    Of one that nothing answered, ``where`` is `base` or the step that it conflicts with, and ``symbols`` are the
    functions and classes that its hunks are in.
    """

    path: str
    kind: str
    reason: str = ""
    where: str = ""
    symbols: tuple[str, ...] = ()

    @property
    def inside(self) -> str:
        """Its functions and classes in words, the first few by name."""
        named = ", ".join(self.symbols[:_NAMED])
        return named + (f" and {len(self.symbols) - _NAMED} more" if len(self.symbols) > _NAMED else "")


class StepRecord(NamedTuple):
    """What became of one step. ``commit`` is the commit below it when the step is left out.

    ``inputs`` are what the result depends on besides ``below`` and ``head``: resolutions, policies, rules, git.
    ``hazards`` are what the hazard rules found; ``rules`` those that the step concerns, found or not, and ``gates``
    what they ask to be gated by. A step that a hazard blocks has the outcome `hazard`.
    """

    name: str
    kind: str
    head: str
    below: str
    commit: str
    tree: str
    outcome: str
    conflicts: tuple[ConflictRecord, ...] = ()
    resolutions: tuple[Used, ...] = ()
    landed: str = ""
    inputs: str = ""
    elapsed_s: float = 0.0
    reused: bool = False
    hazards: tuple[Finding, ...] = ()
    rules: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()

    @property
    def taken_back(self) -> bool:
        """Did upstream merge it and revert it, so that the result is without it?"""
        return self.landed.startswith(TAKEN_BACK)

    @property
    def unresolved(self) -> tuple[ConflictRecord, ...]:
        return tuple(conflict for conflict in self.conflicts if conflict.reason)

    @classmethod
    def from_json(cls, found: Mapping[str, object]) -> StepRecord:
        known = {key: value for key, value in found.items() if key in cls._fields}
        known["conflicts"] = tuple(_conflict(c) for c in known.get("conflicts", ()))  # type: ignore[attr-defined]
        known["hazards"] = tuple(Finding.from_json(f) for f in known.get("hazards", ()))  # type: ignore[attr-defined]
        known |= {key: tuple(known.get(key, ())) for key in ("rules", "gates")}  # type: ignore[arg-type]
        known["resolutions"] = tuple(_used(u) for u in known.get("resolutions", ()))  # type: ignore[attr-defined]
        return cls(**known)  # type: ignore[arg-type]


def _conflict(found: Mapping[str, object]) -> ConflictRecord:
    return ConflictRecord(**{**found, "symbols": tuple(found.get("symbols", ()))})  # type: ignore[arg-type]


def _used(found: Mapping[str, object]) -> Used:
    provenance = Provenance.from_json(dict(found.get("provenance", {})))  # type: ignore[call-overload]
    return Used(**{**found, "provenance": provenance})  # type: ignore[arg-type]


class Run(NamedTuple):
    """One rebuild as the journal tells it.

    ``status``: running, complete, conflict, hazard, proof, gate or error;
    ``state``: candidate, accepting, accepted, aborted.
    """

    plan: Plan
    steps: tuple[StepRecord, ...] = ()
    status: str = "running"
    state: str = "candidate"
    options: Mapping[str, object] = MappingProxyType({})
    proof: Mapping[str, object] | None = None
    started: float = 0.0
    elapsed_s: float = 0.0
    detail: Mapping[str, object] = MappingProxyType({})
    gates: tuple[GateResult, ...] = ()
    benches: tuple[Bench, ...] = ()

    @property
    def tip(self) -> str:
        return self.steps[-1].commit if self.steps else self.plan.base

    @property
    def kept_going(self) -> bool:
        """Did it go on to its end past steps that stop others? Then nothing waits for a person."""
        return self.status in STOPPED and bool(self.options.get("keep_going"))

    @property
    def failed(self) -> GateResult | None:
        """The gate that this run is stopped at."""
        bad = [result for result in self.gates if result.bad]
        return bad[-1] if bad and self.status == "gate" else None

    @property
    def by_name(self) -> dict[str, StepRecord]:
        return {step.name: step for step in self.steps}

    def planned(self, name: str) -> PlannedStep:
        return next(step for step in self.plan.steps if step.name == name)

    def branches(self) -> dict[str, str]:
        """The branch of every step that is in, and the deploy branch, with the commit each should be at."""
        done = self.by_name
        found = {f"refs/heads/{self.plan.stack}": self.tip}
        for step in self.plan.steps:
            record = done.get(step.name)
            if step.branch and record and record.outcome not in LEFT_OUT:
                found[f"refs/heads/{step.branch}"] = record.commit
        return found
