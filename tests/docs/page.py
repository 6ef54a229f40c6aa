"""A page of the documentation as a script: its commands in order, and what each shows.

    ```console          `$ ` begins a command, `> ` goes on with it, the rest is its output
    ```sh               a command in each line; its output is not compared
    ```yaml FILE        a file that the reader writes, in the folder where the commands run
    ```yaml >> FILE     lines that the reader appends to it

A command that ends in `# exit 3` must exit with 3, any other with 0. In an output, `...` stands for anything, as
in doctest. The language of a block that is a file may be another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"```(?P<language>\w+)(?: (?P<append>>> )?(?P<file>\S+))?$")


@dataclass(frozen=True)
class Command:
    """``line`` is where its output begins, from 0, and ``shown`` that output; None where the page shows none."""

    text: str
    line: int
    shown: tuple[str, ...] | None

    @property
    def code(self) -> int:
        told = re.search(r"# exit (\d+)$", self.text)
        return int(told[1]) if told else 0


@dataclass(frozen=True)
class File:
    """A file that a page has its reader write, or lines to append to one."""

    name: str
    text: str
    append: bool


def parts(page: Path) -> Iterator[Command | File]:
    """What a reader of the page does, in order."""
    for start, head, lines in _blocks(page.read_text(encoding="utf-8").splitlines()):
        if head["file"]:
            yield File(head["file"], "".join(f"{line}\n" for line in lines), bool(head["append"]))
        elif head["language"] == "sh":
            yield from (Command(line, start, None) for line in lines if line and not line.startswith("#"))
        elif head["language"] == "console":
            yield from _typed(start, lines)


def commands(page: Path) -> list[Command]:
    return [part for part in parts(page) if isinstance(part, Command)]


def _blocks(lines: list[str]) -> Iterator[tuple[int, re.Match[str], list[str]]]:
    """Each fenced block: the number of its first line, its fence and its lines."""
    number = 0
    while number < len(lines):
        head = _FENCE.match(lines[number])
        number += 1
        if head:
            end = lines.index("```", number)
            yield number, head, lines[number:end]
            number = end + 1


def _typed(start: int, lines: list[str]) -> Iterator[Command]:
    number = 0
    while number < len(lines):
        assert lines[number].startswith("$ "), f"line {start + number + 1}: a block begins with a command"
        typed = [lines[number][2:]]
        number += 1
        while number < len(lines) and lines[number].startswith("> "):
            typed.append(lines[number][2:])
            number += 1
        first = number
        while number < len(lines) and not lines[number].startswith("$ "):
            number += 1
        yield Command("\n".join(typed), start + first, tuple(lines[first:number]))
