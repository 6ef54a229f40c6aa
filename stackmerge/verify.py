"""Verify: the proof of one tip against another, asked for by hand."""

from __future__ import annotations

import re

from stackmerge import accept
from stackmerge.errors import UsageError
from stackmerge.proof import Proof, prove, prove_run
from stackmerge.record import Run
from stackmerge.stack import Stack

_NUMBER = re.compile(r"[0-9]{1,6}")  # more digits than any state has are the start of a commit's id


def verify(stack: Stack, old: str, new: str, old_base: str = "", new_base: str = "") -> Proof:
    """Prove NEW against OLD: state numbers, tips of kept states, or any tips with their bases.

    Without names: the newest run against the last accepted state before it. Raises UsageError where a base
    is not known.
    """
    states = accept.accepted_states(stack.repository, stack.name)
    runs = {str(number): run for number, oid in states if (run := stack.journal.read(oid))}
    if bool(old) != bool(new):
        raise UsageError("verify takes two tips or none", "write `stackmerge verify OLD NEW`")
    if not old:
        last = stack.last_run()
        if last and last.state == "candidate" and last.status in ("complete", "proof"):
            runs["candidate"] = last
        if len(runs) < 2:
            raise UsageError("there are no two rebuilds to compare", "rebuild once more, or name OLD and NEW")
        before, after = list(runs.values())[-2:]
        return prove_run(stack.repository, before, after)
    first, second = _find(stack, runs, old), _find(stack, runs, new)
    if isinstance(first, Run) and isinstance(second, Run) and not (old_base or new_base):
        return prove_run(stack.repository, first, second)
    return prove(
        stack.repository,
        _pair(stack, first, old_base, "--old-base"),
        _pair(stack, second, new_base, "--new-base"),
    )


def _find(stack: Stack, runs: dict[str, Run], name: str) -> Run | str:
    if name in runs:
        return runs[name]
    try:
        tip = stack.repository.commit_id(name, "verify")
    except UsageError:
        if not _NUMBER.fullmatch(name):
            raise
        raise UsageError(f"verify: there is no state {name}", "see `stackmerge undo --list`") from None
    return next((run for run in reversed(runs.values()) if run.tip == tip), tip)


def _pair(stack: Stack, found: Run | str, base: str, option: str) -> tuple[str, str]:
    tip = found.tip if isinstance(found, Run) else found
    if base:
        return stack.repository.commit_id(base, option), tip
    if isinstance(found, Run):
        return found.plan.base, tip
    raise UsageError(f"the base of {tip[:12]} is not known", f"name it with {option}")
