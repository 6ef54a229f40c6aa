"""The terminal that standard error is: its size, what it can do, and how wide text is on it."""

from __future__ import annotations

import os
import sys

SMALLEST = (20, 8)  # columns and lines that a view of several lines needs


def smart() -> bool:
    """Is standard error a terminal on which the cursor can be moved?"""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")


def styled() -> bool:
    """May text be bold or dim? Source: no-color.org."""
    return smart() and not os.environ.get("NO_COLOR")


def size() -> tuple[int, int]:
    """Columns and lines. What the terminal itself says comes before COLUMNS and LINES."""
    try:
        found = os.get_terminal_size(sys.__stderr__.fileno() if sys.__stderr__ else 2)
    except OSError:
        found = os.terminal_size((0, 0))
    return found.columns or _number("COLUMNS", 80), found.lines or _number("LINES", 24)


def _number(name: str, default: int) -> int:
    value = os.environ.get(name, "")
    return int(value) if value.isdecimal() and int(value) else default


def cells(text: str) -> int:
    """How many columns text takes: an ideograph takes two, a combining mark none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # as wide as the tables are: 13 ms, and they need it anyway

    return cell_len(text)


def fit(text: str, width: int) -> str:
    """Text cut to at most ``width`` columns, with an ellipsis where something is missing."""
    text = text[: 4 * width]
    if cells(text) <= width:
        return text
    kept, left = [], max(0, width - 1)
    for char in text:
        left -= cells(char)
        if left < 0:
            break
        kept.append(char)
    return ("".join(kept) + "\u2026") if width > 0 else ""


def beside(left: str, right: str, width: int) -> str:
    """One line of ``width`` columns with ``right`` at its end; ``left`` gives way where there is no room."""
    if not right:
        return fit(left, width)
    right = fit(right, width)
    left = fit(left, max(0, width - cells(right) - 2))
    return left + " " * max(0, width - cells(left) - cells(right)) + right
