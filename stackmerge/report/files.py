"""The files that `report` writes: the page, JUnit XML, and Markdown for a CI job's page."""

from __future__ import annotations

import os
from pathlib import Path

from stackmerge.errors import StackmergeError
from stackmerge.report.junit import junit
from stackmerge.report.summary import summary
from stackmerge.report.write import write
from stackmerge.stack import Stack


def write_files(
    stack: Stack, page: Path | None, junit_file: Path | None, summary_file: Path | None
) -> dict[str, str]:
    """Write those files that are named; the path of each, by what it is: report, junit, summary.

    A summary is added to the file that GitHub collects summaries in, and takes the place of any other file.
    Raises StackmergeError when there is nothing to show, or no place for it.
    """
    if page:
        write(stack, page)
    run = stack.last_run()
    if run is None:
        raise StackmergeError(f"{stack.name!r} has not been rebuilt yet", "start with `stackmerge rebuild`")
    if junit_file:
        _write(junit_file, junit(run), "--junit")
    if summary_file:
        collected = str(summary_file) == os.environ.get("GITHUB_STEP_SUMMARY")
        _write(summary_file, summary(run), "--summary", mode="a" if collected else "w")
    named = {"report": page, "junit": junit_file, "summary": summary_file}
    return {what: str(path.resolve()) for what, path in named.items() if path}


def _write(path: Path, text: str, option: str, mode: str = "w") -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise StackmergeError(
            f"cannot write {path}: {error.strerror}", f"name another file with {option}"
        ) from error
