"""Path globs: `*` and `?` stay inside a folder, `**` crosses folders, as in gitignore(5)."""

from __future__ import annotations

import pytest

from stackmerge import globs


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a.txt", "a.txt", True),
        ("a.txt", "axtxt", False),
        ("a.txt", "b/a.txt", False),
        ("*.txt", "a.txt", True),
        ("*.txt", ".txt", True),
        ("*.txt", "b/a.txt", False),
        ("b/*.txt", "b/a.txt", True),
        ("b/*", "b/c/a.txt", False),
        ("?.txt", "a.txt", True),
        ("?.txt", "ab.txt", False),
        ("b?c", "b/c", False),
        ("**", "a/b/c", True),
        ("**/a", "a", True),
        ("**/a", "b/c/a", True),
        ("**/a", "ba", False),
        ("b/**", "b/c/a", True),
        ("b/**", "b", False),
        ("b/**/a", "b/a", True),
        ("b/**/a", "b/c/d/a", True),
        ("b/**/a", "b/cd", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "b/c/a.py", True),
        ("[ab]", "a", False),
        ("[ab]", "[ab]", True),
        ("a+(b)", "a+(b)", True),
        ("*", "a\nb", True),
        ("", "a", False),
        ("A", "a", False),
    ],
)
def test_a_pattern(pattern: str, path: str, expected: bool) -> None:
    assert globs.matches(path, [pattern]) is expected


def test_any_of_the_patterns() -> None:
    assert globs.matches("b", ["a", "b"])
    assert not globs.matches("b", [])


def test_a_long_pattern_takes_no_longer_than_its_length_asks() -> None:
    """Many stars on a path that does not match: a backtracking matcher would not end."""
    assert not globs.matches("a" * 60 + "b", ["*a" * 6 + "c"])
