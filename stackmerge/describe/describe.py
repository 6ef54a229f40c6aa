"""Describe: the text of the pull requests of a stack's last rebuild."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from stackmerge import accept
from stackmerge.describe import limit, rebases, sections
from stackmerge.describe.gather import Gatherer
from stackmerge.describe.render import Renderer
from stackmerge.errors import StackmergeError, UsageError
from stackmerge.record import LEFT_OUT, Run
from stackmerge.stack import Stack


def describe(
    stack: Stack, names: Sequence[str], numbers: Mapping[str, int], size: int = limit.GITHUB
) -> dict[str, str]:
    """The text of each named step (default: the top one of those with a description) of the last rebuild.

    Raises UsageError for a step that is not there, StackmergeError where nothing has been rebuilt yet.
    """
    gatherer = gather(stack, newest(stack), numbers)
    renderer = renderer_of(stack)
    return {
        name: limit.fitted(gatherer.step(name), size, renderer.body, sections.fresh).text + "\n"
        for name in names or gatherer.names[-1:]
    }


def described(run: Run) -> list[str]:
    """The steps of a rebuild that are in the stack."""
    return [step.name for step in run.steps if step.outcome not in LEFT_OUT]


def gather(stack: Stack, run: Run, numbers: Mapping[str, int]) -> Gatherer:
    """What the descriptions of ``run`` are made from."""
    chain = rebases.history(stack.repository, stack.journal, run)
    return Gatherer(stack.repository, chain, stack.manifest.publishing, numbers)


def renderer_of(stack: Stack, sign: str = "#") -> Renderer:
    """The renderer with the user's own templates, where the manifest names a folder of them."""
    wanted = stack.manifest.publishing.templates
    if not wanted:
        return Renderer(sign=sign)
    folder = (stack.manifest.path.parent / wanted).resolve()
    if not folder.is_dir() or not folder.is_relative_to(stack.repository.top):
        raise UsageError(
            f"{stack.manifest.path.name}: templates: {wanted!r} is not a folder of the repository"
        )
    return Renderer(Path(folder), sign)


def newest(stack: Stack) -> Run:
    """The rebuild to describe: the newest that was not given up. Raises StackmergeError where there is none."""
    run = stack.last_run()
    if run is None or run.state == "aborted" or not run.steps:
        run = accept.last_accepted(stack.repository, stack.journal, stack.name)
    if run is None or not run.steps:
        raise StackmergeError(f"{stack.name!r} has not been rebuilt yet", "start with `stackmerge rebuild`")
    return run
