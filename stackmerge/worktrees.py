"""The work trees of a repository, and the branches that git regards as in use in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stackmerge.repository import Repository

_HEADS = "refs/heads/"


class InUse(NamedTuple):
    """A branch by its full name, the work tree that uses it, and how: `checked out` or `being rebased or bisected`."""

    ref: str
    place: str
    how: str


def branches_in_use(repository: Repository) -> Iterator[InUse]:
    """Every branch that git itself would not move, work tree by work tree."""
    place = ""
    for line in repository.git.text("worktree", "list", "--porcelain").splitlines():
        word, _, value = line.partition(" ")
        place = value if word == "worktree" else place
        if word == "branch":
            yield InUse(value, place, "checked out")
    places = {repository.common_dir: str(repository.top)}
    for own in sorted((repository.common_dir / "worktrees").glob("*")):
        places[own] = _read(own / "gitdir").removesuffix("/.git")
    for own, place in places.items():
        yield from (InUse(ref, place, "being rebased or bisected") for ref in _under_way(own))


def _under_way(git_dir: Path) -> Iterator[str]:
    """The branches that a rebase or bisect in a work tree will go back to, or move at its end."""
    for name in ("rebase-merge/head-name", "rebase-apply/head-name"):
        yield _read(git_dir / name)
    lines = _read(git_dir / "rebase-merge" / "update-refs").splitlines()
    yield from (line for line in lines if line.startswith(_HEADS))
    started = _read(git_dir / "BISECT_START")
    yield started if started.startswith(_HEADS) else _HEADS + started


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="surrogateescape").strip()
    except OSError:
        return ""
