"""The plan of a rebuild: every revision resolved and every head pinned, before anything is merged."""

from __future__ import annotations

from typing import NamedTuple

from stackmerge.errors import UsageError
from stackmerge.landed import Landed
from stackmerge.lock import Lock, Pin
from stackmerge.manifest import Manifest, Step
from stackmerge.repository import Repository


class PlannedStep(NamedTuple):
    """One step with its pinned head. ``earlier`` is its last accepted commit; ``landed`` how it is in the base."""

    name: str
    kind: str
    source: str
    head: str
    branch: str = ""
    pr: str = ""
    title: str = ""
    notes: str = ""
    earlier: str = ""
    landed: str = ""


class Plan(NamedTuple):
    """What a rebuild will do. ``old_base`` and ``old_tip`` are empty before the first accepted rebuild."""

    stack: str
    base: str
    old_base: str
    old_tip: str
    steps: tuple[PlannedStep, ...]

    def as_json(self) -> dict[str, object]:
        return {**self._asdict(), "steps": [_without_empty(step) for step in self.steps]}

    @classmethod
    def from_json(cls, found: dict[str, object]) -> Plan:
        steps = tuple(PlannedStep(**step) for step in found["steps"])  # type: ignore[attr-defined]
        return cls(**{**found, "steps": steps})  # type: ignore[arg-type]


def _without_empty(step: PlannedStep) -> dict[str, str]:
    return {key: value for key, value in step._asdict().items() if value}


def make(repository: Repository, manifest: Manifest, lock: Lock, onto: str | None) -> Plan:
    """Resolve a manifest against the repository. Raises UsageError for a revision that is not here."""
    if onto is None:
        where = f"{manifest.lock_path.name if lock.base else manifest.path.name}: base"
        base = repository.commit_id(lock.base or manifest.base, where)
    else:
        base = repository.commit_id(onto, "--onto")
    old_base = lock.base or repository.commit_id(manifest.base, f"{manifest.path.name}: base")
    landed = Landed(repository, old_base, base)
    pins = [(step, lock.steps.get(step.name)) for step in manifest.steps]
    if base != lock.base:
        repository.learn_merge_bases((pinned_head(repository, *pinned) for pinned in pins), base)
    steps = tuple(_plan_step(repository, step, pin, base, landed) for step, pin in pins)
    return Plan(manifest.stack, base, lock.base, lock.tip, steps)


def _plan_step(repository: Repository, step: Step, pin: Pin | None, base: str, landed: Landed) -> PlannedStep:
    head = pinned_head(repository, step, pin)
    parents = repository.objects.commit(head).parents
    if step.kind == "pick" and len(parents) > 1:
        raise UsageError(f"{step.where}: {step.source!r} is a merge, which cannot be picked", "use `merge:`")
    earlier = pin.commit if pin and pin.commit and repository.has(pin.commit) else ""
    if step.kind == "merge" and not earlier and repository.merge_base(head, base) is None:
        raise UsageError(
            f"{step.where}: {step.source!r} has no history in common with the base", "is it the right one?"
        )
    new = pin is None or not pin.commit
    landed_before = pin is not None and pin.outcome == "landed" and pin.head == head
    return PlannedStep(
        name=step.name,
        kind=step.kind,
        source=step.source,
        head=head,
        branch=step.branch,
        pr=step.pr,
        title=step.title,
        notes=step.notes,
        earlier=earlier,
        landed=landed.how(head, step.kind, before=new or landed_before),
    )


def pinned_head(repository: Repository, step: Step, pin: Pin | None) -> str:
    """The head a step is pinned to; what its source names now where it has no pin yet."""
    if pin is None or pin.source != step.source:
        return repository.commit_id(step.source, step.where)
    if not repository.has(pin.head):
        hint = f"run `stackmerge update {step.name}`"
        raise UsageError(f"{step.where}: the pinned head {pin.head[:12]} of {step.name!r} is not here", hint)
    return pin.head
