"""Somebody committed on the deploy branch: it is not overwritten unless a person says so."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import branches, manifest, rebuild, two_bases


def test_a_branch_with_something_new_is_not_moved(fork: Sandbox) -> None:
    two_bases(fork, "red")
    fork.manifest(manifest("red"))
    rebuild(fork)
    hotfix = fork.branch("hotfix", "deploy", {"fix": "fix\n"}, "hotfix")
    fork.git("branch", "-f", "deploy", hotfix)
    before = branches(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert (moved["status"], moved["state"]) == ("complete", "candidate")
    assert moved["note"] == f"deploy is at {hotfix[:12]}, where stackmerge did not put it"
    assert branches(fork) == before
    refused = fork.stackmerge("accept")
    assert refused.code == 1
    assert refused.err.startswith(
        f"error: deploy is at {hotfix[:12]}, where stackmerge did not put it\nhint: "
    )
    assert branches(fork) == before

    assert fork.stackmerge("accept", "--force").code == 0
    assert fork.git("rev-parse", "deploy") == moved["tip"]
    assert fork.git("rev-parse", "deploy@{1}") == hotfix
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    A red\n"


def test_a_branch_that_was_there_before_the_stack_is_not_taken(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"red": "red\n"}, "red")
    mine = fork.branch("deploy", "v1", {"mine": "mine\n"}, "mine")
    fork.manifest(manifest("red"))

    built = rebuild(fork)
    assert built["state"] == "candidate"
    assert fork.git("rev-parse", "deploy") == mine
    assert fork.graph(built["tip"], "v1") == "* Merge red <- red\n    A red\n"


def test_a_step_branch_that_was_deleted_is_made_again(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"red": "red\n"}, "red")
    fork.manifest(manifest("red", prefix="d/"))
    rebuild(fork)
    before = branches(fork)
    fork.git("branch", "-D", "d/01-red")

    assert rebuild(fork)["state"] == "accepted"
    assert branches(fork) == before
    assert fork.graph("deploy", "v1") == "* Merge red <- red\n    A red\n"


def test_when_one_branch_cannot_be_made_none_moves_and_the_result_waits(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"red": "red\n"}, "red")
    fork.manifest(manifest("red", prefix="d/"))
    fork.git("branch", "d/01-red/in-the-way", "v1")
    before = branches(fork)

    refused = fork.stackmerge("rebuild")
    assert refused.code == 1
    assert refused.err.startswith("error: no ref was moved: git update-ref: ")
    assert branches(fork) == before
    assert fork.stackmerge("status", "--json").json["state"] == "candidate"

    fork.git("branch", "-D", "d/01-red/in-the-way")
    assert fork.stackmerge("continue").code == 0
    assert fork.graph("deploy", "v1") == "* Merge red <- red\n    A red\n"
