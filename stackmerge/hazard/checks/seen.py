"""What a generic check answers, and the files it should look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stackmerge.hazard import languages
from stackmerge.hazard.view import FileView, Unreadable, View


@dataclass(frozen=True)
class Seen:
    """Something that looks wrong. ``conclusive``: no reading of the file makes it right."""

    path: str
    what: str
    lines: tuple[tuple[int, str], ...] = ()
    conclusive: bool = False


@dataclass(frozen=True)
class NotChecked:
    """A file that a check should have looked into and could not."""

    path: str
    reason: str


def combined(view: View, *known: str) -> Iterator[FileView | NotChecked]:
    """The merged files that are neither side's own and that can be read; with ``known``, in these languages.

    A file that is one side's own holds nothing that its author has not seen.
    """
    if view.before:
        return
    for file in view.files():
        if not (file.both and file.combined) or (known and languages.of(file.path) not in known):
            continue
        yield _readable(file)


def _readable(file: FileView) -> FileView | NotChecked:
    try:
        for side in ("base", "ours", "theirs", "merged"):
            file.text(side)
    except Unreadable as error:
        return NotChecked(file.path, str(error))
    return file


def in_result(file: FileView, lines: list[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """The lines that the result still has, with their numbers there; before the merge the lines as they are."""
    if not file.has_merged or file.merged is None:
        return tuple((number, text.strip()) for number, text in lines)
    numbers = file.places_in_result
    return tuple((numbers[text], text.strip()) for _, text in lines if text in numbers)
