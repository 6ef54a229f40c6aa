"""Plan a publication: from the situation to the list of actions, in the order that never merges or closes by accident.

Retarget what changes its base, push everything at once, open from the bottom, update, check, close, delete.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stackmerge.errors import StackmergeError
from stackmerge.forge.base import OPEN
from stackmerge.publish import branches
from stackmerge.publish.actions import Action, Check, Close, Create, Delete, Push, Retarget, Update
from stackmerge.publish.situation import Situation
from stackmerge.publish.targets import why_gone
from stackmerge.publish.texts import Texts


@dataclass(frozen=True)
class Plan:
    """Actions in their order, and what a person should know."""

    actions: tuple[Action, ...]
    notes: tuple[str, ...] = ()


def plan(found: Situation, texts: Texts, numbers: dict[str, int]) -> Plan:
    """The actions from here. ``numbers`` are the known pull requests by step; those to come are stood in for.

    Raises StackmergeError, before anything is sent, for what must not be published over.
    """
    moves = branches.moves(found.record, found.wanted, found.there, found.earlier)
    retargets = _retargets(found)
    creates = [
        Create(t.step, t.branch, t.base)
        for t in found.targets
        if t.branch not in found.pulls and t.branch not in found.shut
    ]
    updates, kept = _updates(found, texts, numbers, retargets, creates)
    actions: list[Action] = [*retargets]
    actions += [Push(moves.push)] if moves.push else []
    actions += [*creates, *updates]
    live = tuple(t.step for t in found.targets if t.branch not in found.shut)
    actions += [Check(live)] if actions and live else []
    actions += _closes(found)
    actions += [Delete(moves.delete)] if moves.delete else []
    return Plan(tuple(actions), (*found.notes, *moves.notes, *_shut(found), *kept))


def _retargets(found: Situation) -> list[Retarget]:
    """Pull requests that will get another base. Raises StackmergeError for one in a stack of the forge's own."""
    made = []
    for target in found.targets:
        pull = found.pulls.get(target.branch)
        if pull is None or pull.base == target.base:
            continue
        if pull.stacked:
            raise StackmergeError(
                f"pull request {pull.number} ({target.step}) is in a stack of the forge's own: its base is fixed",
                "take it out of that stack on the forge, then publish again",
            )
        if pull.base != found.trunk:
            made.append(Retarget(target.step, pull.number, found.trunk))
    return made


def _updates(
    found: Situation, texts: Texts, numbers: dict[str, int], retargets: list[Retarget], creates: list[Create]
) -> tuple[list[Update], list[str]]:
    """The updates to come, and notes on what a person edited."""
    away = {one.step for one in retargets}
    unknown = {one.step: 10**8 + i for i, one in enumerate(creates)}
    numbers.update(unknown)
    updates, notes = [], []
    for target in found.targets:
        pull = found.pulls.get(target.branch)
        if pull is None:
            if target.step in unknown:
                texts.first(target.step)  # too long a body is an error now, not after the push
                updates.append(Update(target.step, target.branch, ("body",)))
            continue
        edit = texts.edit(target, replace(pull, base=found.trunk) if target.step in away else pull)
        notes += [
            f"pull request {pull.number}: {name} was edited by a person and is kept" for name in edit.kept
        ]
        if edit.changes.fields:
            updates.append(Update(target.step, target.branch, tuple(edit.changes.fields)))
    for step in unknown:
        del numbers[step]
    return updates, notes


def _closes(found: Situation) -> list[Close]:
    closes = []
    for branch, pull in found.leaving.items():
        if pull and pull.state == OPEN:
            step = found.record.pulls[branch].step
            closes.append(Close(step, branch, pull.number, why_gone(found.run, step, branch)))
    return closes


def _shut(found: Situation) -> list[str]:
    steps = {target.branch: target.step for target in found.targets}
    return [
        f"pull request {pull.number} ({steps[branch]}) was {pull.state} by a person and is left alone"
        for branch, pull in found.shut.items()
    ]
