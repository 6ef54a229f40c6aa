"""Options that many commands share, and what they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stackmerge.errors import UsageError

if TYPE_CHECKING:
    from stackmerge.stack import Stack

Repo = Annotated[Path, typer.Option("--repo", help="The repository (default: the current directory).")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
File = Annotated[
    str, typer.Option("--manifest", metavar="FILE", help="The manifest, in the top of the repository.")
]
Onto = Annotated[str | None, typer.Option("--onto", metavar="REV", help="The new base.")]
ApplyEdits = Annotated[
    bool,
    typer.Option(
        "--apply-hazard-edits", help="Where a hazard blocks, make the edits that its rule prescribes."
    ),
]
Events = Annotated[
    str,
    typer.Option(
        "--events", metavar="FILE|-", help="Write what happens, as it happens, as one JSON object a line."
    ),
]
HERE = Path()
MANIFEST = "stackmerge.yaml"


def open_stack(repo: Path, manifest: str) -> Stack:
    """The stack of a repository and a manifest. Raises StackmergeError where there is none."""
    from stackmerge.repository import Repository
    from stackmerge.stack import open_stack as opened

    repository = Repository(repo)
    return opened(repository, manifest_path(repository.top, manifest))


def manifest_path(top: Path, name: str) -> Path:
    """Where a manifest is. Raises UsageError for what is no YAML file inside the repository."""
    path = (top / name).resolve()
    if path.suffix not in (".yaml", ".yml") or not path.is_relative_to(top.resolve()):
        raise UsageError(f"--manifest: {name!r} is not a YAML file inside the repository", "")
    return path


def reason_of(option: str, given: str | None) -> str:
    """What was given as a reason; empty where the option was not given. Raises UsageError for one of no words."""
    if given is not None and not given.strip():
        raise UsageError(f"{option}: give a reason", f'write {option} "why", in a few words')
    return given or ""
