"""How alike two files are, by git's own measure for renames."""

from __future__ import annotations

from collections import Counter

RENAME_SCORE = 0.5


def similarity(old: bytes, new: bytes) -> float:
    """The share of bytes, in lines kept anywhere, of the larger file: 0 to 1."""
    if old == new:
        return 1.0
    kept = Counter(old.splitlines(keepends=True)) & Counter(new.splitlines(keepends=True))
    larger = max(len(old), len(new))
    return sum(len(line) * count for line, count in kept.items()) / larger if larger else 1.0


def is_rename(old: bytes, new: bytes) -> bool:
    """Would git call ``new`` a rename of ``old`` (half of it kept)?"""
    return similarity(old, new) >= RENAME_SCORE
