"""git rerere's format, byte for byte: conflict ids, preimages, `MERGE_RR` and the `rr-cache` directory.

Source: git's rerere.c (2.39 to 2.55) and `git help rerere`. Nothing here starts a process; the bytes to parse
are those of the work tree, after smudging and end-of-line conversion, because those are what git hashes.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

OnSkip = Callable[[Path, str], None]

_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_IMAGE = re.compile(r"(preimage|postimage)(?:\.([1-9][0-9]{0,8}))?")
_OCCUPIED = re.compile(r"(?:preimage|postimage)(?:\.([0-9]{1,9}))?")
_SCRATCH = re.compile(r"thisimage(?:\.[0-9]+)?")
_MERGE_RR = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})(?:\.([0-9]{1,9}))?\t(.+)", re.DOTALL)
_CUT_AT_NUL = re.compile(rb"\0[^\n]*\n?")


class MalformedConflict(ValueError):
    """Something that rerere refuses: `where` ("line 12", or "entry 3" of MERGE_RR) and `reason`."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


@dataclass(frozen=True)
class Conflict:
    """The conflict of one file: its id in lowercase hex, its normalised text, its number of outer hunks."""

    id: str
    preimage: bytes
    hunks: int


@dataclass(frozen=True)
class Entry:
    """One variant of a conflict id in an rr-cache; without a postimage it is not resolved yet."""

    id: str
    variant: int
    preimage: bytes
    postimage: bytes | None


class _Hunk:
    """A conflict hunk being read; `begun` is the offset of its first marker."""

    def __init__(self, begun: int) -> None:
        self.begun = begun
        self._seen = b"<"
        self._one: list[bytes] = []
        self._two: list[bytes] = []

    def add_text(self, text: bytes) -> None:
        if self._seen != b"|":
            (self._one if self._seen == b"<" else self._two).append(text)

    def add_nested(self, text: bytes) -> None:
        # A hunk inside the base is not dropped with it: git files it under the second side.
        (self._one if self._seen == b"<" else self._two).append(text)

    def advance(self, marker: bytes) -> bool:
        """Go on to the next part; False when the marker is out of order."""
        expected = {b"|": b"<", b"=": b"<|", b">": b"="}[marker]
        in_order = self._seen in expected
        self._seen = marker
        return in_order

    def sides(self) -> tuple[bytes, bytes]:
        one, two = b"".join(self._one), b"".join(self._two)
        return (one, two) if one <= two else (two, one)


@cache
def _marker_lines(size: int) -> re.Pattern[bytes]:
    if size < 1:
        raise ValueError(f"a conflict marker has at least one character, not {size}")
    n = b"{%d}" % size
    labelled = rb"<%b(?= )|>%b(?= )" % (n, n)
    plain = rb"\|%b(?=[ \t\r\n])|=%b(?=[ \t\r\n])" % (n, n)
    return re.compile(rb"^(?:%b|%b)[^\n]*\n?" % (labelled, plain), re.MULTILINE)


@cache
def _leftover(size: int) -> re.Pattern[bytes]:
    return re.compile(rb"^(?:<{%d}|>{%d})(?:[ \t\r\n]|\Z)" % (size, size), re.MULTILINE)


def _line(data: bytes, offset: int) -> str:
    return f"line {data.count(10, 0, offset) + 1}"


def _normalised(sides: tuple[bytes, bytes], size: int) -> bytes:
    one, two = sides
    return b"".join((b"<" * size, b"\n", one, b"=" * size, b"\n", two, b">" * size, b"\n"))


def _pieces(data: bytes, size: int) -> Iterator[bytes | tuple[bytes, bytes]]:
    """The text outside conflicts (bytes) and the sorted sides of each outer hunk (a pair), in file order."""
    stack: list[_Hunk] = []
    done = 0
    for found in _marker_lines(size).finditer(data):
        marker = found.group()[:1]
        if not stack and marker != b"<":
            continue
        text, done = data[done : found.start()], found.end()
        if not stack:
            yield text
        else:
            stack[-1].add_text(text)
        if marker == b"<":
            stack.append(_Hunk(found.start()))
        elif not stack[-1].advance(marker):
            label = found.group()[:size].decode()
            begun = _line(data, stack[-1].begun)
            raise MalformedConflict(
                _line(data, found.start()), f"'{label}' is out of place in the conflict begun on {begun}"
            )
        elif marker == b">":
            sides = stack.pop().sides()
            if stack:
                stack[-1].add_nested(_normalised(sides, size))
            else:
                yield sides
    if stack:
        raise MalformedConflict(_line(data, stack[-1].begun), "the conflict begun here has no end")
    yield data[done:]


def parse(worktree_bytes: bytes, *, marker_size: int = 7, algorithm: str = "sha1") -> Conflict | None:
    """The conflict in a file as git rerere sees it, or None when it has no conflict hunk.

    `marker_size` is the path's `conflict-marker-size` attribute, `algorithm` the repository's object format.
    Raises MalformedConflict where rerere refuses the whole file: a marker out of order, a hunk without end.
    Source: handle_path and handle_conflict in git's rerere.c.
    """
    digest = hashlib.new(algorithm, usedforsecurity=False)
    preimage: list[bytes] = []
    hunks = 0
    for piece in _pieces(worktree_bytes, marker_size):
        if isinstance(piece, bytes):
            preimage.append(_CUT_AT_NUL.sub(b"", piece))  # git writes these lines as C strings
        else:
            hunks += 1
            digest.update(b"%b\0%b\0" % piece)
            preimage.append(_normalised(piece, marker_size))
    return Conflict(digest.hexdigest(), b"".join(preimage), hunks) if hunks else None


def hunk_ids(worktree_bytes: bytes, *, marker_size: int = 7, algorithm: str = "sha1") -> list[str]:
    """The id that each conflict hunk of a file would have if it were the file's only one, in file order.

    Raises MalformedConflict as `parse` does.
    """
    sides = [piece for piece in _pieces(worktree_bytes, marker_size) if isinstance(piece, tuple)]
    return [hashlib.new(algorithm, b"%b\0%b\0" % pair, usedforsecurity=False).hexdigest() for pair in sides]


def has_markers(data: bytes, *, marker_size: int = 7) -> bool:
    """Whether a conflict is left in the text: whole, half-edited, or in rerere's normalised form.

    Looks for the first or last marker of a hunk, because `=======` alone also underlines headings. git
    itself records and replays a file whose only leftovers are `=======` and `>>>>>>>`.
    """
    return _leftover(marker_size).search(data) is not None


def parse_merge_rr(data: bytes) -> list[tuple[str, int, bytes]]:
    """The entries of a `MERGE_RR` file: conflict id, variant, path. Raises MalformedConflict.

    Source: read_rr in git's rerere.c, which takes a few odder spellings that git itself never writes.
    """
    entries: list[tuple[str, int, bytes]] = []
    for number, record in enumerate(data.removesuffix(b"\0").split(b"\0") if data else [], 1):
        found = _MERGE_RR.fullmatch(record)
        if found is None:
            raise MalformedConflict(f"entry {number}", "not an id, a tab and a path: corrupt MERGE_RR")
        entries.append((found[1].decode(), int(found[2] or 0), found[3]))
    return entries


def format_merge_rr(entries: Iterable[tuple[str, int, bytes]]) -> bytes:
    """A `MERGE_RR` file, one entry a path, sorted by path. Source: write_rr in git's rerere.c."""
    by_path = {path: (conflict_id, variant) for conflict_id, variant, path in entries}
    return b"".join(
        b"%b%b\t%b\0" % (conflict_id.encode(), b".%d" % variant if variant else b"", path)
        for path, (conflict_id, variant) in sorted(by_path.items())
    )


def read_rr_cache(directory: Path, on_skip: OnSkip | None = None) -> Iterator[Entry]:
    """Every variant in an rr-cache, sorted by id, then in the order in which git tries them.

    A name that git would not write, a link, an empty or missing preimage and an unreadable file are skipped;
    `on_skip` is told the path and the reason. A missing directory holds nothing.
    """
    skip = on_skip or (lambda _path, _reason: None)
    for child in sorted(directory.iterdir()) if directory.is_dir() else []:
        if not _ID.fullmatch(child.name):
            skip(child, "not the name of a conflict id")
        elif child.is_symlink() or not child.is_dir():
            skip(child, "not a directory")
        else:
            yield from _read_variants(child, skip)


def _read_variants(home: Path, skip: OnSkip) -> Iterator[Entry]:
    images: dict[int, dict[str, bytes]] = {}
    try:
        children = sorted(home.iterdir())
    except OSError as error:
        skip(home, error.strerror or "cannot be read")
        return
    for child in children:
        if (found := _IMAGE.fullmatch(child.name)) is None:
            if not _SCRATCH.fullmatch(child.name):
                skip(child, "neither a preimage nor a postimage")
        elif (content := _read_image(child, skip)) is not None:
            images.setdefault(int(found[2] or 0), {})[found[1]] = content
    for variant, pair in sorted(images.items()):
        if pair.get("preimage"):
            yield Entry(home.name, variant, pair["preimage"], pair.get("postimage"))
        else:
            name = _image_name("preimage", variant)
            skip(home / name, "empty" if "preimage" in pair else "missing, although there is a postimage")


def _read_image(path: Path, skip: OnSkip) -> bytes | None:
    if path.is_symlink() or not path.is_file():
        skip(path, "not a regular file")
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            return file.read()
    except OSError as error:
        skip(path, error.strerror or "cannot be read")
        return None


def write_rr_cache(directory: Path, entries: Iterable[Entry]) -> int:
    """Add entries to an rr-cache as git would, and count those that were new.

    Nothing there is changed or removed. Content that the id already has under any variant is left alone; the
    rest goes to the first slot that has neither image, whatever variant the entry came with. Each file
    appears whole or not at all. Raises ValueError for an id that is none, OSError when the disk refuses.
    """
    return sum(_add(directory, entry) for entry in entries)


def _add(directory: Path, entry: Entry) -> bool:
    if not _ID.fullmatch(entry.id):
        raise ValueError(f"not a conflict id: {entry.id!r}")
    home = directory / entry.id
    if home.is_symlink():
        raise NotADirectoryError(f"{home} is a link; remove it and try again")
    home.mkdir(parents=True, exist_ok=True)
    if any(_holds(known, entry) for known in _read_variants(home, lambda _path, _reason: None)):
        return False
    occupied = {int(found[1] or 0) for child in home.iterdir() if (found := _OCCUPIED.fullmatch(child.name))}
    for slot in count():
        if slot not in occupied:
            with suppress(FileExistsError):  # another writer was faster
                _create(home / _image_name("preimage", slot), entry.preimage)
                break
    if entry.postimage is not None:
        _create(home / _image_name("postimage", slot), entry.postimage)
    return True


def _holds(known: Entry, entry: Entry) -> bool:
    return known.preimage == entry.preimage and entry.postimage in (None, known.postimage)


def _image_name(kind: str, variant: int) -> str:
    return f"{kind}.{variant}" if variant else kind


def _create(path: Path, content: bytes) -> None:
    """Write a new file in one step; raises FileExistsError when there is one."""
    # Not mkstemp: its private mode would hide the cache from others in a shared repository.
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with scratch.open("xb") as file:
            file.write(content)
        try:
            path.hardlink_to(scratch)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)
