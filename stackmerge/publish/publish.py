"""Publish: make the remote and its pull requests show the accepted rebuild."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stackmerge import accept
from stackmerge.describe.describe import gather, renderer_of
from stackmerge.errors import StackmergeError
from stackmerge.forge import find as forges
from stackmerge.forge.base import Forge, Pull
from stackmerge.forge.token import Token, for_git
from stackmerge.publish import situation, state
from stackmerge.publish.actions import Action
from stackmerge.publish.planner import Plan, plan
from stackmerge.publish.publisher import Publisher, Tools
from stackmerge.publish.situation import Situation
from stackmerge.publish.texts import Texts
from stackmerge.record import Run
from stackmerge.remote import Remote
from stackmerge.stack import Stack


@dataclass(frozen=True)
class Outcome:
    """What was done, or would be: the actions, what a person should know, and the pull requests by step."""

    actions: tuple[Action, ...]
    notes: tuple[str, ...]
    pulls: dict[str, Pull]
    dry: bool
    written: int = 0


def publish(
    stack: Stack, *, dry: bool = False, forge: str = "", tell: Callable[[str], None] = lambda _: None
) -> Outcome:
    """Publish the accepted rebuild; ``dry`` only plans. ``forge`` wins over the manifest.

    Safe to repeat: interrupted anywhere, doing it again ends in the same state, and doing it once more sends
    nothing. Raises StackmergeError, with nothing sent, where somebody else moved a branch.
    """
    with stack.exclusive():
        run = _accepted(stack)
        settings = stack.manifest.publishing
        where = forges.place(settings, Remote(stack.repository.common_dir, settings.remote).url, forge)
        tokens = forges.tokens_for(where)
        connection = forges.connect(where, tokens.api, tell)
        try:
            remote = _remote(stack, where.kind, tokens.git, tell)
            found = situation.read(stack, run, remote, connection, where.name, tell)
            return _publish(stack, found, remote, connection, dry, tell)
        finally:
            connection.close()


def _remote(stack: Stack, kind: str, token: Token | None, tell: Callable[[str], None]) -> Remote:
    """The remote to push to, with the token where its address takes one."""
    directory, name = stack.repository.common_dir, stack.manifest.publishing.remote
    return Remote(directory, name, tell, for_git(token, kind, Remote(directory, name).url))


def _publish(
    stack: Stack, found: Situation, remote: Remote, forge: Forge, dry: bool, tell: Callable[[str], None]
) -> Outcome:
    shown = {**found.pulls, **found.shut}
    numbers = {target.step: shown[target.branch].number for target in found.targets if target.branch in shown}
    texts = Texts(gather(stack, found.run, numbers), renderer_of(stack, forge.sign), forge.limit)
    made: Plan = plan(found, texts, numbers)
    if dry:
        return Outcome(made.actions, made.notes, {}, dry=True)
    tools = Tools(stack.repository, remote, forge, texts, stack.manifest.publishing.draft)
    publisher = Publisher(tools, found, numbers, tell)
    pulls = publisher.run(made.actions)
    notes = (*made.notes, *publisher.notes)
    return Outcome(made.actions, notes, pulls, dry=False, written=publisher.written)


def _accepted(stack: Stack) -> Run:
    """The rebuild that the branches show, with what was measured since. Raises StackmergeError where there is none."""
    last = accept.last_accepted(stack.repository, stack.journal, stack.name)
    if last is None:
        raise StackmergeError(f"nothing of {stack.name!r} is accepted yet", "start with `stackmerge rebuild`")
    newest = stack.last_run()
    return newest if newest and newest.state == "accepted" and newest.started == last.started else last


def numbers(stack: Stack) -> dict[str, int]:
    """The published pull request of each step."""
    branches = {step.name: step.branch for step in stack.manifest.steps if step.branch}
    return state.read(stack.repository, stack.name).numbers(branches)
