"""One step as the rules see it: which paths it changes, and what each tree holds there, read when asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from stackmerge.hazard import languages
from stackmerge.hazard.finding import Sides
from stackmerge.hazard.memory import memory_of
from stackmerge.libgit2 import pygit2
from stackmerge.objects import Objects
from stackmerge.rawtree import Entry

MAX_BYTES = 2_000_000
MAX_LINE = 20_000
MAX_DEPTH = 150
_KEPT = 8_000  # bytes of what is common on each side of a difference
_OPENING, _CLOSING = b"([{", b")]}"


class Unreadable(Exception):
    """Why the rules do not look into a file."""


@dataclass(frozen=True)
class Change:
    """The lines in which two versions of a file differ, as (line number, text)."""

    added: tuple[tuple[int, str], ...] = ()
    removed: tuple[tuple[int, str], ...] = ()

    @property
    def texts(self) -> tuple[list[str], list[str]]:
        return [text for _, text in self.added], [text for _, text in self.removed]


class Changed(NamedTuple):
    """A path that a side changed: its entries in the base and on that side."""

    path: str
    language: str
    base: Entry | None
    now: Entry | None


@dataclass(frozen=True)
class FileView:
    """One path in the trees of a step. An absent file is empty."""

    objects: Objects = field(repr=False, compare=False)
    path: str
    base: Entry | None
    ours: Entry | None
    theirs: Entry | None
    merged: Entry | None
    has_merged: bool

    @property
    def both(self) -> bool:
        """Did both sides change it, each in its own way?"""
        return self.base not in (self.ours, self.theirs) and self.ours != self.theirs

    @property
    def combined(self) -> bool:
        """Is the merged file neither side's own?"""
        return self.merged is not None and self.merged not in (self.ours, self.theirs)

    def data(self, side: str) -> bytes:
        """The bytes on a side. Raises Unreadable for what is too large to read."""
        entry: Entry | None = getattr(self, side)
        if entry is None or not entry.is_file:
            return b""
        data = memory_of(self.objects).blob(self.objects, entry.oid)
        if len(data) > MAX_BYTES:
            raise Unreadable(f"the file is larger than {MAX_BYTES // 1_000_000} MB")
        return data

    @cached_property
    def _texts(self) -> dict[Entry | None, str]:
        return {}

    def text(self, side: str) -> str:
        """The text on a side. Raises Unreadable where it is none that a parser should be given."""
        entry: Entry | None = getattr(self, side)
        if entry not in self._texts:
            self._texts[entry] = readable(self.data(side))
        return self._texts[entry]

    def lines(self, side: str) -> list[str]:
        entry: Entry | None = getattr(self, side)
        if entry not in self._lines:
            self._lines[entry] = self.text(side).split("\n")
        return self._lines[entry]

    @cached_property
    def _lines(self) -> dict[Entry | None, list[str]]:
        return {}

    @cached_property
    def places_in_result(self) -> dict[str, int]:
        """The number of the first line of each text in the merged file."""
        lines = self.lines("merged")
        return dict(zip(reversed(lines), range(len(lines), 0, -1), strict=True))

    @cached_property
    def _changes(self) -> dict[tuple[str, str], Change]:
        return {}

    def change(self, old: str, new: str) -> Change:
        """What differs between two sides. Raises Unreadable."""
        if (old, new) not in self._changes:
            same = getattr(self, old) == getattr(self, new)
            self._changes[old, new] = Change() if same else _diff(self.text(old), self.text(new))
        return self._changes[old, new]

    @cached_property
    def is_plain(self) -> bool:
        """Is the merged file ours, with the very lines exchanged that theirs exchanged? Nothing is lost then.

        Raises Unreadable.
        """
        made, theirs = self.change("ours", "merged"), self.change("base", "theirs")
        return made.texts == theirs.texts


def readable(data: bytes) -> str:
    """Bytes as text. Raises Unreadable for what is binary, no UTF-8, or has a line that is no line."""
    if b"\0" in data[:8000]:
        raise Unreadable("the file is binary")
    try:
        text = data.decode("utf-8-sig")  # a byte order mark is no part of the first line
    except UnicodeDecodeError as error:
        raise Unreadable(f"the file is not UTF-8 (byte {error.start})") from error
    if _has_long_line(data):
        raise Unreadable(f"the file has a line of more than {MAX_LINE} bytes")
    return text.replace("\r\n", "\n")


def _has_long_line(data: bytes) -> bool:
    """Is there a line of more than MAX_LINE bytes? Looks for a line end in every so many bytes."""
    start = 0
    while len(data) - start > MAX_LINE:
        end = data.rfind(b"\n", start, start + MAX_LINE + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def refuse_deep(text: str) -> None:
    """Raises Unreadable for a text that is nested deeper than any person writes: parsers may overflow the stack."""
    if _is_deep(text.encode("utf-8", "replace")):
        raise Unreadable(f"the file is nested more than {MAX_DEPTH} deep")


def _is_deep(data: bytes) -> bool:
    """Brackets or blocks, strings not told apart."""
    if sum(data.count(c) for c in (b"(", b"[", b"{")) > MAX_DEPTH:
        depth = 0
        for byte in data.translate(None, delete=_NOT_BRACKETS):
            depth += 1 if byte in _OPENING else -1 if depth else 0
            if depth > MAX_DEPTH:
                return True
    return b" " * (4 * MAX_DEPTH) in data and any(
        len(line) - len(line.lstrip(b" \t")) > 4 * MAX_DEPTH for line in data.split(b"\n") if line.strip()
    )


_NOT_BRACKETS = bytes(c for c in range(256) if c not in _OPENING + _CLOSING)


def _diff(old: str, new: str) -> Change:
    before, after = old.encode(), new.encode()  # libgit2 reads them while the hunks are walked
    skipped, before, after = _without_common_ends(before, after)
    patch = pygit2.Patch.create_from(before, after, context_lines=0)
    added, removed = [], []
    for hunk in patch.hunks:
        for line in hunk.lines:
            text = line.raw_content.decode("utf-8", "replace").rstrip("\n")
            if line.origin == "+":
                added.append((skipped + line.new_lineno, text))
            elif line.origin == "-":
                removed.append((skipped + line.old_lineno, text))
    return Change(tuple(added), tuple(removed))


def _without_common_ends(old: bytes, new: bytes) -> tuple[int, bytes, bytes]:
    """Two texts without most of what both begin and end with, and the number of lines left out at the beginning.

    libgit2 hashes each byte that it is given to compare, and it may move a hunk along lines that repeat: so a part
    of what is common stays.
    """
    if b"\0" in old or b"\0" in new:  # which makes a text binary for libgit2 where it comes early
        return 0, old, new
    start = _line_start(old, _common(old, new, 0) - _KEPT)
    end = max(_common(old[start:], new[start:], -1) - _KEPT, 0)
    end = len(old[len(old) - end :].partition(b"\n")[2])
    return old.count(b"\n", 0, start), old[start : len(old) - end], new[start : len(new) - end]


def _line_start(text: bytes, place: int) -> int:
    return text.rfind(b"\n", 0, max(place, 0)) + 1


def _common(one: bytes, other: bytes, side: int) -> int:
    """How many bytes two texts have in common at the beginning (``side`` 0) or at the end (-1)."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        half = (low + high + 1) // 2
        same = one[:half] == other[:half] if side == 0 else one[-half:] == other[-half:]
        low, high = (half, high) if same else (low, half - 1)
    return low


class View:
    """A step: its sides, and the paths in which they differ."""

    def __init__(self, objects: Objects, sides: Sides) -> None:
        self.objects = objects
        self.sides = sides
        self._files: dict[str, FileView] = {}

    @property
    def before(self) -> bool:
        """Is there no merged tree yet?"""
        return self.sides.merged is None

    @cached_property
    def theirs_changed(self) -> dict[str, tuple[Entry | None, Entry | None]]:
        return dict(sorted(self.objects.diff(self.sides.base, self.sides.theirs).items()))

    @cached_property
    def ours_changed(self) -> dict[str, tuple[Entry | None, Entry | None]]:
        return dict(sorted(self.objects.diff(self.sides.base, self.sides.ours).items()))

    def changed_in(self, side: str, known: Collection[str]) -> Iterator[Changed]:
        """The files that a side changed and that are in these languages."""
        if side not in self._by_language:
            found: dict[str, list[Changed]] = {}
            for path, (base, now) in getattr(self, f"{side}_changed").items():
                language = languages.of(path)
                if language:
                    found.setdefault(language, []).append(Changed(path, language, base, now))
            self._by_language[side] = found
        for language in known:
            yield from self._by_language[side].get(language, ())

    @cached_property
    def _by_language(self) -> dict[str, dict[str, list[Changed]]]:
        return {}

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """What the step is about: what theirs changed, and what the merge changed in ours."""
        found = set(self.theirs_changed)
        if self.sides.merged is not None:
            found |= self.objects.diff(self.sides.ours, self.sides.merged).keys()
        return tuple(sorted(found))

    def both_changed(self, path: str) -> bool:
        """Did each side change a path? Asked of many before one is looked into."""
        known = self.theirs_changed.get(path)
        return known is not None and self.objects.lookup(self.sides.ours, path) != known[0]

    def file(self, path: str) -> FileView:
        if path not in self._files:
            look, merged = self.objects.lookup, self.sides.merged
            known = self.theirs_changed.get(path)
            base, theirs = known or (look(self.sides.base, path), look(self.sides.theirs, path))
            ours = look(self.sides.ours, path)
            result = look(merged, path) if merged is not None else None
            self._files[path] = FileView(self.objects, path, base, ours, theirs, result, merged is not None)
        return self._files[path]

    def files(self) -> Iterator[FileView]:
        """The regular files that the step is about."""
        for path in self.paths:
            file = self.file(path)
            if any(e and e.is_file for e in (file.base, file.ours, file.theirs, file.merged)):
                yield file
