"""The gates of a whole rebuild: which steps are gated, in which order, and what that proves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from stackmerge.errors import UsageError
from stackmerge.gate.outcome import GateResult
from stackmerge.gate.spec import Gate
from stackmerge.gate.telling import GateEnd, Tell
from stackmerge.record import LEFT_OUT, Run, StepRecord
from stackmerge.stack import Stack

if TYPE_CHECKING:  # what runs gates is read only where there are any: most of what it needs nothing else does
    from stackmerge.gate.gating import Gating, Subject

ORDERS = ("step", "tip", "off")


class Gated(NamedTuple):
    """The results of a rebuild's gates so far; ``failed`` is the one that stops it."""

    results: tuple[GateResult, ...] = ()
    failed: GateResult | None = None


def subjects(stack: Stack, run: Run) -> list[Subject]:
    """The steps of a run that can be gated: those that are in it."""
    from stackmerge.gate.gating import Subject

    objects = stack.repository.objects
    return [
        Subject(
            record.name, record.commit, record.tree, objects.commit(record.below).tree, _wanted(stack, record)
        )
        for record in run.steps
        if record.outcome not in LEFT_OUT
    ]


def _wanted(stack: Stack, record: StepRecord) -> tuple[str, ...]:
    """The gates that hazards ask for: by what the rules say, and by what the gates' own `on: hazards` says."""
    by_rule = (gate.name for gate in stack.manifest.gates if set(gate.on.hazards) & set(record.rules))
    return tuple(dict.fromkeys([*record.gates, *by_rule]))


def check_order(order: str) -> None:
    """Raise UsageError for an order of gating that there is not."""
    if order not in ORDERS:
        raise UsageError(f"--gates: {order!r} is not one of {', '.join(ORDERS)}")


def gate_run(stack: Stack, run: Run, order: str, note: Callable[[GateResult], None], tell: Tell) -> Gated:
    """Gate a run step by step from the bottom, or its tip first. ``note`` is called with each result at once.

    Raises StackmergeError before any gate runs where a hazard asks for one that is not defined, in any order.
    """
    if order == "off" or not (stack.manifest.gates or any(record.gates for record in run.steps)):
        return Gated()
    from stackmerge.gate.gating import Gating

    steps = subjects(stack, run)
    if not steps:
        return Gated()
    gating = Gating(stack.repository, stack.directory, stack.manifest.gates, tell)
    for step in steps:
        gating.check_defined(step)
    accepted = {(r.step, r.gate): r for r in run.gates if r.accepted}
    runs = _gate_steps if order == "step" else _gate_tip
    results: list[GateResult] = []
    for result in runs(gating, steps):
        taken = accepted.get((result.step, result.gate))
        if taken and result.bad:
            result = result._replace(accepted=taken.accepted)
            tell(GateEnd(result))
        results.append(result)
        note(result)
        if result.bad:
            return Gated(tuple(results), result)
    return Gated(tuple(results))


def _gate_steps(gating: Gating, steps: Sequence[Subject]) -> Iterator[GateResult]:
    for step in steps:
        for gate in gating.chosen(step):
            yield gating.run_one(gate, step)


def _gate_tip(gating: Gating, steps: Sequence[Subject]) -> Iterator[GateResult]:
    """The tip's gates; for one that fails there, its first bad step, and then the tip.

    The first bad step stops the rebuild. Where a person accepts its failure, that of the tip is one more. Where the
    gate does not run on a step in between, that is told instead of the first bad step, which nobody knows then.
    """
    for gate in gating.chosen(steps[-1]):
        at_tip = gating.run_one(gate, steps[-1])
        if at_tip.bad:
            below = _first_bad_below(gating, gate, steps, at_tip)
            if below:
                yield below
        yield at_tip


def _first_bad_below(
    gating: Gating, gate: Gate, steps: Sequence[Subject], at_tip: GateResult
) -> GateResult | None:
    """The result at the first bad step of a gate that fails at the tip, if it is another step."""
    from stackmerge.gate.search import Unknown, first_bad

    def look(step: Subject) -> GateResult:
        return at_tip if step is steps[-1] else gating.run_one(gate, step)

    try:
        first, _ = first_bad(steps, look)
    except Unknown as error:
        return error.result
    return first if first is not at_tip else None


class Bisected(NamedTuple):
    """The first step that a gate fails on (None: it passes on the tip), and how often the gate ran."""

    result: GateResult | None
    runs: int


def bisect(stack: Stack, run: Run, name: str, tell: Tell) -> Bisected:
    """Find the first bad step of the last rebuild.

    Raises UsageError for a gate that is not defined, and StackmergeError for one that does not run on a step.
    """
    from stackmerge.gate.gating import Gating
    from stackmerge.gate.search import first_bad

    gate = _gate_named(stack, name)
    gating = Gating(stack.repository, stack.directory, stack.manifest.gates, tell)
    steps = subjects(stack, run)
    if not steps:
        raise UsageError("the last rebuild has no step to gate", "see `stackmerge status`")
    return Bisected(*first_bad(steps, lambda step: gating.run_one(gate, step, failures=True)))


def gate_by_hand(stack: Stack, run: Run, name: str, gate: str, tell: Tell) -> list[GateResult]:
    """Run a step's gates again (default: the tip's), whatever is known. Raises UsageError for what is not there."""
    from stackmerge.gate.gating import Gating

    steps = subjects(stack, run)
    chosen = [step for step in steps if step.name == name] if name else steps[-1:]
    if not chosen:
        raise UsageError(f"there is no built step {name!r}", "see `stackmerge status`")
    gating = Gating(stack.repository, stack.directory, stack.manifest.gates, tell)
    wanted = [_gate_named(stack, gate)] if gate else gating.chosen(chosen[0])
    return [gating.run_one(one, chosen[0], again=True) for one in wanted]


def _gate_named(stack: Stack, name: str) -> Gate:
    found = next((gate for gate in stack.manifest.gates if gate.name == name), None)
    if found is None:
        raise UsageError(f"there is no gate {name!r}", "see `gates` in the manifest")
    return found
