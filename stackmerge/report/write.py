"""Write the report of a stack's last rebuild."""

from __future__ import annotations

from pathlib import Path

from stackmerge.describe.rebases import history
from stackmerge.errors import StackmergeError
from stackmerge.report.model import view
from stackmerge.report.render import render
from stackmerge.stack import Stack


def write(stack: Stack, path: Path) -> None:
    """Write the page to ``path``. Raises StackmergeError when there is nothing to show, or no place for it."""
    run = stack.last_run()
    if run is None:
        raise StackmergeError(f"{stack.name!r} has not been rebuilt yet", "start with `stackmerge rebuild`")
    page = render(view(stack.repository, history(stack.repository, stack.journal, run)))
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise StackmergeError(
            f"cannot write {path}: {error.strerror}", "name another file with --out"
        ) from error
