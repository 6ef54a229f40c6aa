"""Where code is in a person's Markdown: fenced blocks, and spans between backticks.

What is taken for code is left as it is, so only what is code by every reading counts. A span ends with its paragraph,
list item or table cell at the latest, and a backtick without another there is escaped: else it would find one below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_MARKS = r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t][ \t>]*)*"
_FENCE = r"(?P<fence>`{3,}(?=[^`]*$)|~{3,})"
_OPEN = re.compile(rf"(?P<indent> {{0,3}}){_FENCE}")
_NESTED = re.compile(rf"{_MARKS}{_FENCE}")
_BLANK = re.compile(r"[ \t>]*$")
_BEGINS = re.compile(r"[ \t]*(?:[-+*>#=_~|:\[]|\d{1,9}[.)])")
_ALONE = re.compile(rf"{_MARKS}(?:#|\[[^\]]*\]:|[-=*_][-=*_ \t]*$)")
_TABLE = re.compile(r"(?=.*-)(?=.*[|:])[-:|>+*\d.) \t]+$")
_CELL = re.compile(r"(?<!\\)((?:\\\\)*\|)")
_TICKS = re.compile(r"\\.|(`+)", re.DOTALL)
_IN_LINK = re.compile(r"\]\([^)]*$")


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it is code. A fenced block without an end gets one."""
    lines = text.split("\n")
    blocks = list(_blocks(lines))
    if any(not code and any(_NESTED.match(line) for line in block) for block, code in blocks):
        yield text, False  # a fence in a list or a quotation, whose end depends on what is around it
        return
    for number, (block, code) in enumerate(blocks):
        if number:
            yield "\n", False
        if code:
            yield "\n".join(block), True
        else:
            for chunk in _chunks(block):
                yield from _spans(chunk)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Fenced blocks, and the lines between them."""
    plain: list[str] = []
    at = 0
    while at < len(lines):
        block = _fenced(lines[at:])
        if block and plain:
            yield plain, False
            plain = []
        if block:
            yield block, True
        else:
            plain.append(lines[at])
        at += len(block) or 1
    if plain:
        yield plain, False


def _fenced(lines: Sequence[str]) -> list[str]:
    """The fenced block that begins here, with its end; empty where none does, or where it may end elsewhere."""
    opened = _OPEN.match(lines[0])
    if not opened:
        return []
    indent, fence = opened["indent"], opened["fence"]
    end = re.compile(rf"( *){fence[0]}{{{len(fence)},}}[ \t]*$")
    for number, line in enumerate(lines[1:], 1):
        if line.strip() and not line.startswith(indent):
            return []
        found = end.match(line)
        if found and len(found[1]) <= 3:
            return [*lines[: number + 1]]
        if found and len(found[1]) <= len(indent) + 3 and indent:
            return []
    return [*lines, indent + fence]


def _chunks(lines: Sequence[str]) -> Iterator[str]:
    """Texts that no span goes beyond: every place where something may begin that is not the paragraph any more."""
    at = 0
    while at < len(lines):
        end = next((i for i in range(at, len(lines)) if _BLANK.match(lines[i])), len(lines) - 1) + 1
        block = [line + "\n" for line in lines[at:end]]
        if end == len(lines):
            block[-1] = block[-1][:-1]
        yield from _cells(block) if any(_TABLE.match(line) for line in lines[at:end]) else _joined(block)
        at = end


def _cells(rows: Sequence[str]) -> Iterator[str]:
    for row in rows:
        yield from filter(None, _CELL.split(row))


def _joined(lines: Sequence[str]) -> Iterator[str]:
    chunk = ""
    for line in lines:
        if chunk and _BEGINS.match(line):
            yield chunk
            chunk = ""
        chunk += line
        if _ALONE.match(line):
            yield chunk
            chunk = ""
    if chunk:
        yield chunk


def _spans(chunk: str) -> Iterator[tuple[str, bool]]:
    """Source: CommonMark, "Code spans": a run of backticks and the next one of the same length."""
    plain, at = "", 0
    while found := _TICKS.search(chunk, at):
        plain += chunk[at : found.start()]
        at = found.end()
        ticks = found[1]
        end = re.compile(rf"(?<!`){ticks}(?!`)").search(chunk, at) if ticks else None
        if end and _IN_LINK.search(plain):  # the parts of a link come before spans
            yield plain + chunk[found.start() :], False
            return
        if end:
            yield plain, False
            yield chunk[found.start() : end.end()], True
            plain, at = "", end.end()
        else:
            plain += "\\`" * len(ticks) if ticks else found[0]
    yield plain + chunk[at:], False
