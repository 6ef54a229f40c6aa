"""The rules that apply: those shipped with stackmerge, and the user's own, which win where ids are the same."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from stackmerge.errors import UsageError
from stackmerge.shipped import folder

if TYPE_CHECKING:  # rules are parsed where a step needs them, and most rebuilds have known answers
    from stackmerge.hazard.rule import Rule

# Part of the digest: a change of what the checks find must not be hidden by results made before it.
_CHECKS = "2"
_CHECK = re.compile(r"^check:", re.MULTILINE)
_PATHS = re.compile(r"^match:[ \t]*\n  paths: \[([^\]\[{}#\\]*)\][ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Rules:
    """Rules in order of their ids. ``digest`` changes with any of them."""

    files: tuple[Path, ...]
    digest: str

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.all)

    @cached_property
    def all(self) -> tuple[Rule, ...]:
        """Every rule. Raises UsageError where one is malformed, or where two files of a folder share an id."""
        from stackmerge.hazard import reading

        found: dict[str, Rule] = {}
        for file in self.files:
            one = reading.read(file)
            before = found.get(one.id)
            if before and before.file.parent == file.parent:
                raise UsageError(
                    f"{file.parent.name}/{file.name}: the id {one.id!r} is taken by {before.file.name}",
                    "give one of them another",
                )
            found[one.id] = one
        return tuple(found[name] for name in sorted(found))

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The globs of every rule of facts. Most steps match none, and then no rule is parsed at all."""
        found: list[str] = []
        for file in self.files:
            text = file.read_text("utf-8", "replace")
            if not _CHECK.search(text):
                found += _plain_paths(text) or _parsed_paths(file)
        return tuple(found)

    def only(self, name: str) -> Rules:
        """These rules without any other than one. Raises UsageError."""
        return Rules((self.get(name).file,), self.digest)

    def get(self, name: str) -> Rule:
        """One rule. Raises UsageError."""
        for one in self.all:
            if one.id == name:
                return one
        raise UsageError(f"there is no rule {name!r}", "see `stackmerge hazards list`")


def _plain_paths(text: str) -> list[str]:
    """The globs of a rule where they stand on one line, as they mostly do."""
    plain = _PATHS.search(text)
    return [word.strip().strip("\"'") for word in plain[1].split(",")] if plain else []


def _parsed_paths(file: Path) -> Iterable[str]:
    from stackmerge.hazard import reading

    return reading.read(file).paths


def shipped() -> Path:
    """The folder of the rules that come with stackmerge."""
    return folder("hazards")


def load(paths: Iterable[Path]) -> Rules:
    """The shipped rules and those in ``paths``, folders of the user's own that need not exist.

    The files are read now, so that the digest is theirs; they are parsed when a rule is first needed.
    """
    ours = shipped()
    folders = dict.fromkeys([ours, *(path.resolve() for path in paths)])
    files = [file for folder in folders for file in sorted(folder.glob("*.yaml"))]
    wanted = [file for file in files if file.parent == ours or is_rule(file)]
    state = hashlib.sha256(_CHECKS.encode())
    for file in wanted:
        state.update(file.name.encode() + b"\0" + hashlib.sha256(_read(file)).digest())
    return Rules(tuple(wanted), state.hexdigest()[:16])


def is_rule(path: Path) -> bool:
    """Is this YAML file meant as a rule? A folder called ``hazards`` may hold other things."""
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return True  # reading it properly says what is wrong
    return re.search(r"^(id|facts|hazard|check):", text, re.MULTILINE) is not None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file.parent.name}/{file.name}: cannot be read ({error.strerror})") from error
