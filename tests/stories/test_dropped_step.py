"""The person takes a step out of the manifest: its change and its branch go, and the rest stays."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import manifest, nine, outcomes, rebuild


def test_a_step_is_dropped(fork: Sandbox) -> None:
    fork.commit({"a": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    for head, files in {"red": {"a": nine(l1="red")}, "green": {"g": "g\n"}, "blue": {"b": "blue\n"}}.items():
        fork.branch(head, "v1", dict(files), head)
    fork.manifest(manifest("red", "green", "blue", prefix="d/"))
    rebuild(fork)

    fork.manifest(manifest("red", "blue", prefix="d/"))
    dropped = rebuild(fork)
    assert outcomes(dropped) == {"red": "clean", "blue": "clean"}
    assert [step["reused"] for step in dropped["steps"]] == [True, False]
    assert dropped["proof"]["counts"] == {"explained": 1}
    assert fork.git("for-each-ref", "--format=%(refname:short)", "refs/heads/d/").split() == [
        "d/01-red",
        "d/02-blue",
    ]
    assert fork.git("diff", "--name-only", "v1", "deploy").split() == ["a", "b"]
    assert fork.graph("deploy", "v1") == "* Merge red <- red\n    M a\n* Merge blue <- blue\n    M b\n"
