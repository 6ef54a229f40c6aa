"""Update: fetch what the steps' sources name now, show what changed since the pin, and pin it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stackmerge import lock
from stackmerge.errors import StackmergeError, UsageError
from stackmerge.manifest import Step
from stackmerge.refs import checked_name
from stackmerge.remote import Remote
from stackmerge.stack import Stack


@dataclass(frozen=True)
class Updated:
    """One step's head before and after. ``rewritten``: the new head does not contain the old one.

    ``failed``: it could not be fetched, ``note`` says why, and its pin is as it was.
    """

    name: str
    old: str
    new: str
    commits: int = 0
    rewritten: bool = False
    note: str = ""
    failed: bool = False


def update(
    stack: Stack, names: Sequence[str], progress: Callable[[str], None] = lambda _: None
) -> list[Updated]:
    """Fetch and re-pin the named steps (default: all); one that cannot be fetched is told, and keeps none from it.

    Raises UsageError for a step that is not there.
    """
    unknown = set(names) - {step.name for step in stack.manifest.steps}
    if unknown:
        raise UsageError(f"there is no step {sorted(unknown)[0]!r}", "see `stackmerge plan`")
    wanted = [step for step in stack.manifest.steps if not names or step.name in names]
    with stack.exclusive():
        found = [_updated(stack, step, progress) for step in wanted]
        pins = dict(stack.lock.steps)
        sources = {step.name: step.source for step in wanted}
        for one in (one for one in found if not one.failed):
            old = pins.get(one.name, lock.Pin(sources[one.name], one.new))
            pins[one.name] = old._replace(source=sources[one.name], head=one.new)
        order = {step.name: pins[step.name] for step in stack.manifest.steps if step.name in pins}
        stack.keep_heads({one.name: one.new for one in found if not one.failed})
        if order:
            lock.save(stack.manifest.lock_path, stack.lock._replace(steps=order))
    return found


def _updated(stack: Stack, step: Step, progress: Callable[[str], None]) -> Updated:
    try:
        return _update_step(stack, step, progress)
    except StackmergeError as error:
        pin = stack.lock.steps.get(step.name)
        head = pin.head if pin else ""
        return Updated(step.name, head, head, note=error.message, failed=True)


def _update_step(stack: Stack, step: Step, progress: Callable[[str], None]) -> Updated:
    repository = stack.repository
    pin = stack.lock.steps.get(step.name)
    old = pin.head if pin else ""
    ref = _remote_ref(stack, step)
    if ref:
        kept = f"refs/stackmerge/{stack.name}/sources/{step.name}/head"
        Remote(repository.common_dir, stack.manifest.remote, progress).fetch([f"+{ref}:{kept}"])
        new = repository.commit_id(kept, step.where)
    else:
        new = repository.commit_id(step.source, step.where)
    if not old or old == new:
        return Updated(step.name, old, new, note="" if old else "pinned for the first time")
    if not repository.has(old):  # pinned elsewhere, and never kept here
        return Updated(step.name, old, new, note=f"{old[:12]} is not here, so what changed nobody can tell")
    stack.keep_heads({step.name: old})
    rewritten = not repository.is_ancestor(old, new)
    count = repository.git.text("rev-list", "--count", f"{old}..{new}")
    return Updated(step.name, old, new, int(count), rewritten)


def _remote_ref(stack: Stack, step: Step) -> str:
    """The full name of the ref to fetch from the upstream remote; empty for a source that is local."""
    remote = f"{stack.manifest.remote}/"
    if step.source.startswith("refs/pull/") or step.source.startswith("refs/merge-requests/"):
        return step.source
    if step.source.startswith(remote) and not _is_local(stack, step.source):
        return f"refs/heads/{step.source.removeprefix(remote)}"
    return ""


def _is_local(stack: Stack, source: str) -> bool:
    """Is it a branch or tag of this repository, or no name of a branch at all?"""
    refs = stack.repository.refs
    try:
        checked_name(f"refs/heads/{source}", source)
    except UsageError:
        return True
    return any(refs.get(f"refs/{kind}/{source}") for kind in ("heads", "tags"))
