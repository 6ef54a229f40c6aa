"""A commit is made anew on every base: it must not be a new mention of a pull request each time."""

from __future__ import annotations

import re

from tests.sandbox import Sandbox
from tests.stories.steps import rebuild


def test_a_steps_message_mentions_no_pull_request(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"red": "red\n"}, "red")
    fork.branch("blue", "v1", {"blue": "blue\n"}, "blue")
    fork.manifest(
        "stack: deploy\nbase: v1\nsteps:\n"
        "- {name: red, merge: red, pr: up/stream#338, title: Paint it,"
        " notes: 'Needs #12, up/stream#13 and GH things.'}\n"
        "- {name: blue, merge: blue, pr: 7}\n"
    )
    rebuild(fork)
    red = fork.git("log", "-1", "--format=%B", "deploy^")
    assert red.startswith(
        "Merge Paint it (up/stream PR 338)\n\nNeeds PR 12, up/stream PR 13 and GH things.\n\n"
        "Stackmerge-Step: red\nUpstream-PR: up/stream PR 338"
    )
    blue = fork.git("log", "-1", "--format=%B", "deploy")
    assert blue.startswith("Merge blue (PR 7)\n\nStackmerge-Step: blue\nUpstream-PR: 7")
    assert not re.search(r"#\d|GH-\d", red + blue)
