"""A branch that would move is checked out in a work tree: the result waits as a candidate."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("busy", ["rebase", "bisect"])
def test_a_branch_that_a_rebase_or_bisect_goes_back_to_stays(
    fork: Sandbox, tmp_path: Path, linked: bool, busy: str
) -> None:
    two_bases(fork, "red")
    fork.manifest(manifest("red"))
    rebuild(fork)
    place = tmp_path / "elsewhere" if linked else fork.path
    if linked:
        fork.git("worktree", "add", "-q", str(place), "deploy")
    else:
        fork.git("checkout", "-q", "deploy")
    if busy == "bisect":
        fork.git("bisect", "start", "deploy", "v1~0^{commit}", cwd=place, check=False)
        fork.git("checkout", "-q", "--detach", cwd=place)
    else:
        fork.environment["GIT_SEQUENCE_EDITOR"] = "sed -i -e s/^pick/edit/"
        fork.git("rebase", "-q", "-i", "v1", cwd=place)
    before = branches(fork)
    fork.git("branch", "-f", "deploy", "v2", check=False)
    assert branches(fork) == before, "git itself moves it"

    moved = rebuild(fork, "--onto", "v2")
    assert moved["state"] == "candidate"
    assert moved["note"].startswith(
        "the result is a candidate: branch deploy is being rebased or bisected in "
    )
    assert branches(fork) == before
    fork.git("checkout", "-q", "--detach", cwd=place)
    fork.git(busy, "reset" if busy == "bisect" else "--abort", cwd=place)
    fork.git("checkout", "-q", "--detach", cwd=place)
    assert fork.stackmerge("accept").code == 0
    assert fork.git("rev-parse", "deploy") == moved["tip"]


def test_a_symbolic_ref_is_not_moved(fork: Sandbox) -> None:
    """What it stands for may be checked out, and is somebody's branch."""
    two_bases(fork, "red")
    fork.manifest(manifest("red"))
    rebuild(fork)
    fork.git("branch", "-m", "deploy", "trunk")
    fork.git("symbolic-ref", "refs/heads/deploy", "refs/heads/trunk")
    fork.git("checkout", "-q", "trunk")
    before = branches(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert moved["state"] == "candidate"
    assert moved["note"] == "deploy is a symbolic ref, which stands for another branch"
    assert branches(fork) == before
    assert fork.git("status", "--porcelain", "--untracked-files=no") == ""
    fork.git("symbolic-ref", "--delete", "refs/heads/deploy")
    assert fork.stackmerge("accept").code == 0
    fork.git("symbolic-ref", "refs/heads/deploy", "refs/heads/nothing")
    assert fork.stackmerge("status").code == 0
    assert rebuild(fork, "--onto", "v1")["state"] == "candidate"
