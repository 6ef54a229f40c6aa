"""The person adds a step in the middle: those below are known, those above are made again."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import manifest, outcomes, rebuild


def test_a_step_is_added(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    for head in ("red", "green", "blue"):
        fork.branch(head, "v1", {head: f"{head}\n"}, head)
    fork.manifest(manifest("red", "blue", prefix="d/"))
    first = rebuild(fork)

    fork.manifest(manifest("red", "green", "blue", prefix="d/"))
    added = rebuild(fork)
    assert outcomes(added) == {"red": "clean", "green": "clean", "blue": "clean"}
    assert [step["reused"] for step in added["steps"]] == [True, False, False]
    assert added["steps"][0]["commit"] == first["steps"][0]["commit"]
    assert added["proof"]["counts"] == {"explained": 1}
    assert fork.git("for-each-ref", "--format=%(refname:short)", "refs/heads/d/").split() == [
        "d/01-red",
        "d/02-green",
        "d/03-blue",
    ]
    assert fork.graph("deploy", "v1") == (
        "* Merge red <- red\n    A red\n* Merge green <- green\n    A green\n* Merge blue <- blue\n    A blue\n"
    )
