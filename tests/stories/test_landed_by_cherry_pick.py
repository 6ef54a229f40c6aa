"""Upstream took a step's commits one by one."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import manifest, nine, outcomes, rebuild


def stack_of_red_and_blue(fork: Sandbox) -> None:
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red 1")
    fork.branch("red", "red", {"a": nine(l1="red", l9="red")}, "red 2")
    fork.branch("blue", "v1", {"b": "blue\n"}, "blue")
    fork.manifest(manifest("red", "blue"))
    rebuild(fork)
    fork.commit({"c": "c\n"}, "other")


def test_a_head_whose_every_commit_was_picked_has_landed(fork: Sandbox) -> None:
    stack_of_red_and_blue(fork)
    fork.git("cherry-pick", "-x", "red~1", "red")
    picked = fork.git("rev-parse", "HEAD")
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "landed", "blue": "clean"}
    assert moved["steps"][0]["landed"] == f"cherry-picked as {picked[:12]} and 1 more"
    assert fork.graph("deploy", "v2") == "* Merge blue <- blue\n    A b\n"


def test_a_head_of_which_only_a_part_was_picked_has_not(fork: Sandbox) -> None:
    stack_of_red_and_blue(fork)
    fork.git("cherry-pick", "-x", "red~1")
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "clean"}
    assert fork.show("deploy", "a") == nine(l1="red", l9="red").rstrip("\n")
    assert fork.graph("deploy", "v2") == "* Merge red <- red 2\n    M a\n* Merge blue <- blue\n    A b\n"
