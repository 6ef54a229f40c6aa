"""The bytes of an edited text: with the byte order mark and the line ends of the file that it was read from."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from difflib import SequenceMatcher


def written_like(data: bytes, text: str) -> bytes:
    """``text``, which has bare LFs and no byte order mark, written as ``data`` is.

    A line that is in both ends as it does there; a new one as most lines there do.
    """
    mark = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
    new = text.encode()
    crlf, all_ends = data.count(b"\r\n"), data.count(b"\n")
    if crlf == all_ends:
        new = new.replace(b"\n", b"\r\n") if crlf else new
    elif crlf:
        new = b"".join(_mixed(data.removeprefix(mark), new, b"\r\n" if 2 * crlf > all_ends else b"\n"))
    return mark + new


def _mixed(data: bytes, new: bytes, usual: bytes) -> Iterator[bytes]:
    before, after = data.split(b"\n"), new.split(b"\n")
    plain = [line.removesuffix(b"\r") for line in before[:-1]] + before[-1:]
    ends = [usual] * (len(after) - 1) + [b""]
    for old_at, new_at, count in _common(plain, after):
        for i in range(count):
            if old_at + i < len(before) - 1 and new_at + i < len(after) - 1:
                ends[new_at + i] = b"\r\n" if before[old_at + i].endswith(b"\r") else b"\n"
    yield from (line + end for line, end in zip(after, ends, strict=True))


def _common(old: list[bytes], new: list[bytes]) -> Iterator[tuple[int, int, int]]:
    """Runs of lines that are in both: where in either, and how many. What both begin and end with is found first."""
    least = min(len(old), len(new))
    start = next((i for i in range(least) if old[i] != new[i]), least)
    end = next((i for i in range(least - start) if old[-1 - i] != new[-1 - i]), least - start)
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    yield 0, 0, start
    for old_at, new_at, count in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        yield start + old_at, start + new_at, count
    yield len(old) - end, len(new) - end, end
