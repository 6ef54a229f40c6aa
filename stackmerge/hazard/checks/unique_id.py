"""Two things with one identity: two heads of a chain of migrations, two rows with one id."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from stackmerge.hazard.checks.seen import NotChecked, Seen, combined
from stackmerge.hazard.view import FileView, Unreadable, View

_FOLDERS = ("migrations", "versions", "migrate")
_PARENT = re.compile(
    r"^\s*down_revision\s*(?::[^=\n]+)?=\s*['\"](\w+)['\"]"
    r"|dependencies\s*=\s*\[[^\]]*?\(\s*['\"](\w+)['\"]\s*,\s*['\"](\w+)['\"]",
    re.MULTILINE,
)
_NUMBER = re.compile(r"^[VU]?(\d{3,})[_-]")
_ROW = re.compile(
    r"^\s*(?:[-{\[(]\s*)*[\"']?(?:id|uid|uuid|pk|oid)[\"']?\s*[:=]\s*([\"']?[\w.:/-]+[\"']?)\s*(?:[,#}].*)?$"
)
_ROW_FILES = (".yaml", ".yml", ".json", ".toml", ".csv", ".sql", ".ini", ".cfg", ".xml")


def check(view: View, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Seen | NotChecked]:
    """Clashes of what each side added."""
    del deliberate
    yield from _migrations(view)
    for file in combined(view):
        if PurePosixPath(file.path).suffix not in _ROW_FILES:
            continue
        if isinstance(file, NotChecked):
            yield file
        else:
            yield from _rows(file)


# -- migrations


def _migrations(view: View) -> Iterator[Seen | NotChecked]:
    new = [path for path, (before, after) in view.theirs_changed.items() if before is None and after]
    new = [path for path in new if PurePosixPath(path).parent.name in _FOLDERS]
    if not new:
        return
    others = [path for path, (before, after) in view.ours_changed.items() if before is None and after]
    for path in new:
        for other in others:
            if other != path and PurePosixPath(other).parent == PurePosixPath(path).parent:
                yield from _compare(view, path, other)


def _compare(view: View, path: str, other: str) -> Iterator[Seen | NotChecked]:
    if view.sides.merged is not None and None in (view.file(path).merged, view.file(other).merged):
        return
    try:
        side = "theirs" if view.before else "merged"
        one = _parent(view.file(path), side)
        two = _parent(view.file(other), "ours" if view.before else "merged")
    except Unreadable as error:
        yield NotChecked(path, str(error))
        return
    numbers = [_NUMBER.match(PurePosixPath(p).name) for p in (path, other)]
    if one and one == two:
        yield Seen(path, f"two migrations follow {one}: this one and {other}")
    elif numbers[0] and numbers[1] and numbers[0][1] == numbers[1][1] and not (one or two):
        yield Seen(path, f"two migrations have the number {numbers[0][1]}: this one and {other}")


def _parent(file: FileView, side: str) -> str:
    """What a migration says it follows; empty where it does not say."""
    match = _PARENT.search(file.text(side))
    return ".".join(group for group in match.groups() if group) if match else ""


# -- rows


def _rows(file: FileView) -> Iterator[Seen]:
    if PurePosixPath(file.path).suffix == ".csv":
        ids = {side: _csv(file.lines(side)) for side in ("ours", "theirs", "merged")}
    else:
        ids = {side: _ids(file.lines(side)) for side in ("ours", "theirs", "merged")}
    counts = {side: Counter(value for value, _ in found) for side, found in ids.items()}
    for value, count in counts["merged"].items():
        if count > 1 and counts["ours"][value] == 1 and counts["theirs"][value] == 1:
            lines = file.lines("merged")
            where = tuple((n, lines[n - 1].strip()) for v, n in ids["merged"] if v == value)
            yield Seen(file.path, f"{count} rows have the id {value}", where)


def _ids(lines: list[str]) -> list[tuple[str, int]]:
    return [(m[1].strip("'\""), n) for n, line in enumerate(lines, 1) if (m := _ROW.match(line))]


def _csv(lines: list[str]) -> list[tuple[str, int]]:
    """The first column, where its heading says that it identifies the row."""
    heading = lines[0].split(",")[0].strip().strip('"').lower() if lines else ""
    if heading not in ("id", "uid", "uuid", "pk", "key", "code"):
        return []
    return [(line.split(",")[0].strip(), n) for n, line in enumerate(lines[1:], 2) if line.strip()]
