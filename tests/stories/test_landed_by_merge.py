"""A step's head was merged upstream: it is landed, left out and reported, and its branch goes away."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import manifest, nine, outcomes, rebuild


def test_a_head_that_upstream_merged_is_left_out(fork: Sandbox) -> None:
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.branch("blue", "v1", {"b": "blue\n"}, "blue")
    fork.manifest(manifest("red", "blue", prefix="d/"))
    rebuild(fork)
    fork.commit({"c": "c\n"}, "other")
    fork.git("merge", "-q", "--no-ff", "-m", "take red", "red")
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "landed", "blue": "clean"}
    assert moved["steps"][0]["landed"] == "merged"
    assert moved["steps"][0]["commit"] == moved["base"]
    assert fork.git("branch", "--list", "d/*", "--format=%(refname:short)") == "d/02-blue"
    assert fork.graph("deploy", "v2") == "* Merge blue <- blue\n    A b\n"


def test_a_head_that_upstream_merged_and_reverted_is_told(fork: Sandbox) -> None:
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.manifest(manifest("red"))
    rebuild(fork)
    fork.git("merge", "-q", "--no-ff", "-m", "take red", "red")
    fork.git("tag", "v2")
    fork.git("revert", "--no-edit", "-m1", "HEAD")
    reverted = fork.git("rev-parse", "HEAD")
    fork.commit({"c": "c\n"}, "other")
    fork.git("tag", "v3")
    fork.git("revert", "--no-edit", reverted)
    fork.git("tag", "v4")

    moved = fork.stackmerge("rebuild", "--onto", "v3", "--json")
    assert moved.json["steps"][0]["landed"] == f"merged, then reverted by {reverted[:12]}"
    assert f"red: warning: it was merged, then reverted by {reverted[:12]} upstream" in moved.err
    for onto in ("v2", "v4"):
        again = fork.stackmerge("rebuild", "--onto", onto, "--json")
        assert again.json["steps"][0]["landed"] == "merged"
        assert "warning" not in again.err
