"""The person changes the order of two steps that conflict: the same answer replays in the other step."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, rebuild, resolve


def test_the_answer_replays_the_other_way_round(fork: Sandbox) -> None:
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red"), "r": "r\n"}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue"), "b": "b\n"}, "blue")
    fork.manifest(manifest("red", "blue", prefix="d/"))
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple")})
    first = go_on(fork)

    fork.manifest(manifest("blue", "red", prefix="d/"))
    turned = rebuild(fork)
    assert outcomes(turned) == {"blue": "clean", "red": "replayed"}
    assert turned["tree"] == first["tree"]
    assert fork.git("for-each-ref", "--format=%(refname:short)", "refs/heads/d/").split() == [
        "d/01-blue",
        "d/02-red",
    ]
    assert fork.graph("deploy", "v1") == (
        "* Merge blue <- blue\n    M a\n    A b\n* Merge red <- red\n    M a\n    A r\n"
    )
