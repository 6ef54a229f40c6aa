"""Undefined names and redefinitions in the merged Python file that neither side has, by ruff."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from stackmerge.hazard.checks.seen import NotChecked, Seen, combined
from stackmerge.hazard.view import FileView, View

_SIDES = ("ours", "theirs", "merged")
_NAME = re.compile(r"`([^`]+)`")
# ruff's F811 skips names that look like dummies unless it is told that none is one.
_OPTIONS = (
    "check", "--isolated", "--no-cache", "--quiet", "--exit-zero", "--output-format", "json",
    "--select", "F821,F811", "--config", 'lint.dummy-variable-rgx = "^$"', "--target-version", "py313",
)  # fmt: skip
_SECONDS = 30


def check(view: View, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Seen | NotChecked]:
    """What ruff says of the merged file and of neither side's. An undefined name is conclusive."""
    del deliberate
    files: list[FileView] = []
    for file in combined(view, "python"):
        if isinstance(file, NotChecked):
            yield file
        else:
            files.append(file)
    if not files:
        return
    command = _ruff()
    if command is None:
        yield from (NotChecked(file.path, "ruff is not installed") for file in files)
        return
    try:
        found = _lint(command, files)
    except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError) as error:
        yield from (NotChecked(file.path, f"ruff failed: {_words(error)}") for file in files)
        return
    for number, file in enumerate(files):
        yield from _delta(file, {side: found.get((number, side), {}) for side in _SIDES})


@lru_cache(maxsize=1)
def _ruff() -> tuple[str, ...] | None:
    beside = Path(sys.executable).parent / "ruff"
    if find_spec("ruff") is not None:
        return (str(beside),) if beside.is_file() else (sys.executable, "-m", "ruff")
    found = shutil.which("ruff")
    return (found,) if found else None


def _words(error: Exception) -> str:
    """An error in few words: of a command that failed, the last that it said."""
    if not isinstance(error, subprocess.CalledProcessError):
        return str(error)
    lines = error.stderr.decode(errors="replace").split("\n") if error.stderr else []
    return next((line.strip() for line in reversed(lines) if line.strip()), f"exit status {error.returncode}")


Said = dict[tuple[str, str], list[int]]


def _lint(command: Sequence[str], files: Sequence[FileView]) -> dict[tuple[int, str], Said]:
    """One run of ruff over every version of every file, under names of ours."""
    with TemporaryDirectory(prefix="stackmerge-lint-") as name:
        folder = Path(name)
        for number, file in enumerate(files):
            for side in _SIDES:
                name_here = f"{number}-{side}{Path(file.path).suffix}"
                (folder / name_here).write_bytes(file.data(side))
        done = subprocess.run(
            [*command, *_OPTIONS, "."], cwd=folder, capture_output=True, check=True, timeout=_SECONDS
        )  # fmt: skip
    found: dict[tuple[int, str], Said] = {}
    for one in json.loads(done.stdout):
        place, _, side = Path(one["filename"]).stem.partition("-")
        key_of_file = (int(place), side)
        if one["code"] in ("F821", "F811"):
            named = _NAME.search(one["message"])
            key = (one["code"], named[1] if named else "")
            found.setdefault(key_of_file, {}).setdefault(key, []).append(one["location"]["row"])
        else:
            found.setdefault(key_of_file, {})["", ""] = []  # it does not parse
    return found


def _delta(file: FileView, said: dict[str, Said]) -> Iterator[Seen | NotChecked]:
    if ("", "") in said["merged"] and not any(("", "") in said[side] for side in ("ours", "theirs")):
        yield NotChecked(file.path, "the merged file does not parse as Python")
        return
    if any(("", "") in said[side] for side in _SIDES):
        yield NotChecked(file.path, "it does not parse as Python")
        return
    lines = file.lines("merged")
    for (code, name), rows in sorted(said["merged"].items()):
        if any((code, name) in said[side] for side in ("ours", "theirs")):
            continue
        where = tuple((row, lines[row - 1].strip()) for row in rows[:10])
        if code == "F821":
            yield Seen(file.path, f"the name {name} is not defined", where, conclusive=True)
        else:
            yield Seen(file.path, f"{name} is redefined and was not used before", where)
