"""Submodules: a commit that is named in the tree and need not be here."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, outcomes, rebuild, used

ONE, RED, BLUE, PURPLE = ("1" * 40, "2" * 40, "3" * 40, "4" * 40)


def point(fork: Sandbox, name: str, start: str, commit: str) -> None:
    """A branch on which the submodule ``lib`` is at ``commit``."""
    fork.git("checkout", "-q", "-B", name, start)
    fork.git("update-index", "--add", "--cacheinfo", f"160000,{commit},lib")
    fork.commit({}, name)
    fork.git("checkout", "-q", "main")


def test_two_heads_move_a_submodule_that_is_not_here(fork: Sandbox) -> None:
    fork.commit({"b": "b\n"}, "root")
    point(fork, "start", "main", ONE)
    fork.git("merge", "-q", "--ff-only", "start")
    fork.git("tag", "v1")
    point(fork, "red", "v1", RED)
    point(fork, "blue", "v1", BLUE)
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "blue"))

    stopped = rebuild(fork, code=3)
    [conflict] = stopped["steps"][1]["conflicts"]
    assert (conflict["path"], conflict["kind"]) == ("lib", "submodule")
    tree = Path(stopped["worktree"])
    fork.git("update-index", "--cacheinfo", f"160000,{PURPLE},lib", cwd=tree)
    go_on(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "replayed"}
    assert used(moved, "blue") == [("exact", "lib")]
    assert fork.git("ls-tree", "deploy", "lib") == f"160000 commit {PURPLE}\tlib"
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    M lib\n* Merge blue <- blue\n    M lib\n"


def test_one_side_moves_it(fork: Sandbox) -> None:
    fork.commit({"b": "b\n"}, "root")
    point(fork, "start", "main", ONE)
    fork.git("merge", "-q", "--ff-only", "start")
    fork.git("tag", "v1")
    point(fork, "red", "v1", RED)
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red"))
    rebuild(fork)

    assert outcomes(rebuild(fork, "--onto", "v2")) == {"red": "clean"}
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    M lib\n"
