"""What the command line shows: progress and tables on standard error, results and JSON on standard output."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Iterable, Sequence

from stackmerge.errors import StackmergeError
from stackmerge.screen_terminal import fit, size, smart, styled

SHORT = 12


def clean(text: str) -> str:
    """Text from a stranger for a terminal: control and bidirectional characters made visible."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def print_json(found: object) -> None:
    """Print one JSON object on standard output."""
    sys.stdout.write(jsonlib.dumps(found, indent=2, ensure_ascii=True) + "\n")


def out(line: str) -> None:
    """Print a line on standard output: a result."""
    sys.stdout.write(line + "\n")


def say(line: str = "") -> None:
    """Print a line on standard error."""
    sys.stderr.write(line + "\n")


def warn(text: str) -> None:
    say(f"warning: {clean(text)}")


def failed(error: StackmergeError, json: bool) -> None:
    """Show an error: one sentence, and the hint on its own line."""
    if json:
        print_json({"status": "error", "error": error.message, "hint": error.hint})
    say(f"error: {clean(error.message)}")
    if error.hint:
        say(f"hint: {clean(error.hint)}")


def said(text: str, found: object, json: bool) -> None:
    """Show a one-line result."""
    if json:
        print_json(found)
    else:
        print(clean(text))


def lines(found: Iterable[str]) -> None:
    """Show text as it is."""
    for line in found:
        print(line)
    sys.stdout.flush()


def typed(command: str) -> None:
    """Show a command that the demo runs, as if it were typed."""
    lines(["", f"$ {command}"])


class Progress:
    """One live line on standard error; silent where that is no terminal, or one that can only print."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._live = smart()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")

    def line(self, text: str) -> None:
        if self._live:
            sys.stderr.write(f"\r\x1b[K{fit(clean(f'{self._verb}: {text}'), size()[0] - 1)}")
            sys.stderr.flush()


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on standard error; aligned plain text where that is no terminal."""
    if not smart():
        _plain_table(columns, [[clean(cell) for cell in row] for row in rows])
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(
        stderr=True, highlight=False, width=size()[0], color_system="auto" if styled() else None
    )
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    console.print(table)


def _plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    for row in [columns, *rows]:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
