"""A branch that would move is checked out in a work tree: the result waits as a candidate."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import branches, manifest, rebuild, two_bases


def test_the_result_stays_a_candidate_until_the_branch_is_free(fork: Sandbox, tmp_path: Path) -> None:
    two_bases(fork, "red")
    fork.manifest(manifest("red"))
    rebuild(fork)
    elsewhere = tmp_path / "elsewhere"
    fork.git("worktree", "add", "-q", str(elsewhere), "deploy")
    before = branches(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert (moved["status"], moved["state"]) == ("complete", "candidate")
    assert moved["note"] == (
        f"the result is a candidate: branch deploy is checked out in {elsewhere.resolve()}"
    )
    assert branches(fork) == before
    assert fork.git("rev-parse", "refs/stackmerge/deploy/candidate") == moved["tip"]
    assert fork.git("status", "--porcelain", cwd=elsewhere) == ""
    refused = fork.stackmerge("accept")
    assert refused.code == 1
    assert refused.err.startswith("error: the result is a candidate: branch deploy is checked out in ")

    fork.git("checkout", "-q", "--detach", cwd=elsewhere)
    assert fork.stackmerge("accept").code == 0
    assert fork.git("rev-parse", "deploy") == moved["tip"]
    nothing = fork.stackmerge("accept")
    assert nothing.code == 1
    assert nothing.err.startswith("error: there is no candidate to accept\n")
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    A red\n"


def test_an_undo_waits_until_the_branch_is_free(fork: Sandbox, tmp_path: Path) -> None:
    two_bases(fork, "red")
    fork.manifest(manifest("red"))
    first = rebuild(fork)
    rebuild(fork, "--onto", "v2")
    elsewhere = tmp_path / "elsewhere"
    fork.git("worktree", "add", "-q", str(elsewhere), "deploy")
    before = branches(fork)

    waits = fork.stackmerge("undo")
    assert waits.code == 1
    assert waits.err == (
        f"error: branch deploy is checked out in {elsewhere.resolve()}, so it cannot go back yet\n"
        "hint: switch away from it there, then `stackmerge accept` finishes this undo\n"
    )
    assert branches(fork) == before
    fork.git("checkout", "-q", "--detach", cwd=elsewhere)
    assert fork.stackmerge("accept").code == 0
    assert fork.git("rev-parse", "deploy") == first["tip"]
    assert fork.git("rev-parse", "v1") in (fork.path / "stackmerge.lock").read_text()
