"""The topic of a merge is what git's own message says of it."""

from __future__ import annotations

import pytest

from stackmerge.train import topic


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Merge branch 'ab/red' into next\n\nlong text\n", "ab/red"),
        ("Merge remote-tracking branch 'origin/red'", "origin/red"),
        ("Merge tag 'v1.2'", "v1.2"),
        ("Merge pull request #7 from ada/red", "#7"),
        # two repositories whose branches have one name are two topics
        ("Merge branch 'master' of https://example.com/gitk", "master of https://example.com/gitk"),
        (
            "Merge branch 'master' of https://example.com/git-gui into next",
            "master of https://example.com/git-gui",
        ),
        ("A plain commit", ""),
    ],
)
def test_the_topic(message: str, expected: str) -> None:
    assert topic(message) == expected
