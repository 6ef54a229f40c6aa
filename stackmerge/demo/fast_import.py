"""Commits for ``git fast-import``, from folders of sources; dates are fixed, so ids are too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from stackmerge.demo.history import Change
from stackmerge.git import Git

SOURCES = Path(__file__).with_name("sources")
START = 1_736_150_400  # 2025-01-06, a Monday
_DAY = 86_400


def import_changes(git: Git, changes: Iterable[Change], extra: Mapping[str, bytes] | None = None) -> None:
    """Make the commits of ``changes``, each after its parent; the last one also gets the ``extra`` files."""
    ordered = list(changes)
    marks = {change.key: f":{number}" for number, change in enumerate(ordered, 1)}
    stream = [_commit(change, marks, extra if change is ordered[-1] else None) for change in ordered]
    git.run("fast-import", "--quiet", "--force", "--done", stdin=b"".join([*stream, b"done\n"]))


def files_of(folder: str) -> Iterator[tuple[str, bytes]]:
    """The files below a folder of the sources, with their paths in the tree."""
    root = SOURCES / folder
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(root).as_posix(), path.read_bytes()


def _commit(change: Change, marks: Mapping[str, str], extra: Mapping[str, bytes] | None) -> bytes:
    when = f"{START + change.day * _DAY} +0000"
    first, *others = change.refs
    head = [f"commit {first}", f"mark {marks[change.key]}", f"author {change.who} {when}"]
    head += [f"committer {change.who} {when}"]
    parts = ["\n".join(head).encode() + b"\n", _data(f"{change.subject}\n".encode())]
    if change.parent:
        parts.append(f"from {marks.get(change.parent, change.parent)}\n".encode())
    parts += [f"D {path}\n".encode() for path in change.deletes]
    files = [*(files_of(change.files) if change.files else ()), *sorted((extra or {}).items())]
    parts += [f"M 100644 inline {path}\n".encode() + _data(data) for path, data in files]
    parts += [f"reset {ref}\nfrom {marks[change.key]}\n".encode() for ref in others]
    return b"".join(parts) + b"\n"


def _data(data: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(data), data)
