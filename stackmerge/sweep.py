"""Sweeps: a side that replaced a line everywhere, while the other side went on to use it in new places.

git merges the new uses without a conflict, or beside one, and nobody is told that they were left behind.
"""

from __future__ import annotations

from collections import Counter


def brought_back(base: bytes, ours: bytes, theirs: bytes, answer: bytes) -> str | None:
    """A line of ``answer`` that one side removed from several places, all there were, and the other side added."""
    was, *sides = (Counter(data.splitlines()) for data in (base, ours, theirs))
    kept = set(answer.splitlines())
    for one, other in (sides, sides[::-1]):
        for line, count in was.items():
            if count > 1 and line.strip() and line not in one and other[line] > count and line in kept:
                return line.strip().decode(errors="replace")
    return None
