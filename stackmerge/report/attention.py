"""What a person should look at first: what stopped the rebuild, and what it has not proven."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stackmerge.report.gates import GateGroup
from stackmerge.report.steps import StepView


@dataclass(frozen=True)
class Item:
    """One thing to look at; ``step`` is its number, 0 for something about the whole."""

    words: str
    mood: str
    name: str = ""
    step: int = 0


def items(steps: Sequence[StepView], gates: Sequence[GateGroup], failures: Sequence[str]) -> tuple[Item, ...]:
    """What is wrong comes before what is only unproven. ``failures`` are the paths at which the proof fails."""
    found = [item for step in steps for item in _of_step(step)]
    if failures:
        words = ", ".join(failures[:3]) + (f" and {len(failures) - 3} more" if len(failures) > 3 else "")
        found.append(Item(f"the proof fails at {words}", "bad", "proof"))
    found += _of_gates(gates)
    unbuilt = [step for step in steps if step.outcome == "not built"]
    if unbuilt:
        last = f" to {unbuilt[-1].name}" if len(unbuilt) > 1 else ""
        words = f"not built: the rebuild did not come this far ({len(unbuilt)} in all{last})"
        found.append(Item(words, "waiting", unbuilt[0].name, unbuilt[0].number))
    return tuple(sorted(found, key=lambda item: item.mood != "bad"))


def _of_step(step: StepView) -> Iterator[Item]:
    for conflict in step.conflicts:
        if conflict.reason:
            yield Item(f"conflict at {conflict.path}: {conflict.reason}", "bad", step.name, step.number)
    for hazard in step.hazards:
        if hazard.mood in ("bad", "waiting"):
            words = f"{hazard.finding.rule} {hazard.word} at {hazard.place}: {hazard.finding.title}"
            yield Item(words, hazard.mood, step.name, step.number)
    for gate in step.gates:
        if gate.mood == "bad":
            yield Item(f"gate {gate.result.gate}: {gate.result.words}", gate.mood, step.name, step.number)
    for name in step.no_result:
        words = f"gate {name}: not run, though a hazard rule asks for it"
        yield Item(words, "waiting", step.name, step.number)


def _of_gates(groups: Sequence[GateGroup]) -> Iterator[Item]:
    """What gates have not proven, the same words once for all steps; each failure is told at its own step."""
    for group in groups:
        lacks = " is not proven on a GPU" if group.short_of_gpu else ""
        if group.mood == "waiting" or (lacks and group.mood == "good"):
            where = f"{len(group.steps)} steps" if len(group.steps) > 1 else group.steps[0]
            yield Item(f"the gate {group.gate}{lacks}: {group.words} ({where})", "waiting", "gates")
