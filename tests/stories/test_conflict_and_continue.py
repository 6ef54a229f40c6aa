"""A step conflicts: the rebuild stops, a person resolves it once, and it replays from then on."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import branches, go_on, manifest, nine, outcomes, rebuild, resolve, used


def two_heads_that_change_one_line(fork: Sandbox) -> None:
    fork.commit({"a": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue"), "new": "new\n"}, "blue")
    fork.commit({"a": nine(l9="NINE")}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "blue", prefix="d/"))


def test_it_stops_goes_on_and_replays_on_the_next_base(fork: Sandbox) -> None:
    two_heads_that_change_one_line(fork)
    before = branches(fork)

    stopped = rebuild(fork, code=3)
    assert stopped["status"] == "conflict"
    assert outcomes(stopped) == {"red": "clean", "blue": "conflict"}
    [conflict] = stopped["steps"][1]["conflicts"]
    assert (conflict["path"], conflict["kind"], conflict["where"]) == ("a", "content", "red")
    assert "no resolution with id" in conflict["reason"]
    assert branches(fork) == before

    resolve(fork, stopped, {"a": nine(l1="purple")})
    done = go_on(fork)
    assert outcomes(done) == {"red": "clean", "blue": "replayed"}
    assert not Path(stopped["worktree"]).exists()
    assert fork.show("deploy", "a").startswith("purple\n2\n")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "replayed"}
    assert used(moved, "blue") == [("text", "a")]
    assert fork.show("deploy", "a") == nine(l1="purple", l9="NINE").rstrip("\n")
    assert fork.graph("deploy", "v2") == (
        "* Merge red <- red\n    M a\n* Merge blue <- blue\n    M a\n    A new\n"
    )


def test_the_work_tree_is_as_git_merge_leaves_it(fork: Sandbox, tmp_path: Path) -> None:
    two_heads_that_change_one_line(fork)
    stopped = rebuild(fork, code=3)
    ours = Path(stopped["worktree"])
    theirs = tmp_path / "by-hand"
    fork.git("worktree", "add", "-q", "--detach", str(theirs), stopped["steps"][0]["commit"])
    fork.git("merge", "-q", "blue", cwd=theirs, check=False)

    for question in (
        ("ls-files", "--stage"),
        ("status", "--porcelain"),
        ("rev-parse", "HEAD"),
        ("rev-parse", "MERGE_HEAD"),
    ):
        assert fork.git(*question, cwd=ours) == fork.git(*question, cwd=theirs)
    unlabelled = [
        [line.split(b" ")[0] for line in (tree / "a").read_bytes().splitlines()] for tree in (ours, theirs)
    ]
    assert unlabelled[0] == unlabelled[1]
    assert b"<<<<<<< " in (ours / "a").read_bytes()


def test_continue_waits_until_everything_is_resolved(fork: Sandbox) -> None:
    two_heads_that_change_one_line(fork)
    stopped = rebuild(fork, code=3)
    tree = Path(stopped["worktree"])
    before = branches(fork)

    unmerged = fork.stackmerge("continue")
    assert unmerged.code == 1
    assert unmerged.err.startswith("error: still in conflict: a\nhint: ")
    fork.git("add", "a", cwd=tree)
    marked = fork.stackmerge("continue")
    assert marked.code == 1
    assert marked.err.startswith("error: a still holds conflict markers\nhint: ")
    resolve(fork, stopped, {"a": nine(l1="purple")})
    (tree / "a").write_text("edited again\n")
    unstaged = fork.stackmerge("continue")
    assert unstaged.code == 1
    assert unstaged.err.startswith("error: changed but not staged: a\nhint: ")
    assert branches(fork) == before

    again = fork.stackmerge("rebuild")
    assert again.code == 1
    assert again.err.startswith("error: a rebuild of 'deploy' is stopped at blue\nhint: ")

    resolve(fork, stopped, {"a": nine(l1="purple")})
    go_on(fork)
    assert fork.graph("deploy", "v1") == (
        "* Merge red <- red\n    M a\n* Merge blue <- blue\n    M a\n    A new\n"
    )


def test_markers_that_a_person_commits_are_seen(fork: Sandbox) -> None:
    two_heads_that_change_one_line(fork)
    stopped = rebuild(fork, code=3)
    fork.git("commit", "-q", "-a", "-m", "merged", cwd=Path(stopped["worktree"]))
    marked = fork.stackmerge("continue")
    assert marked.code == 1
    assert marked.err.startswith("error: a still holds conflict markers\nhint: ")
    resolve(fork, stopped, {"a": nine(l1="purple")})
    fork.git("commit", "-q", "--amend", "-m", "merged", cwd=Path(stopped["worktree"]))
    assert outcomes(go_on(fork)) == {"red": "clean", "blue": "replayed"}


def test_abort_leaves_nothing_behind(fork: Sandbox) -> None:
    two_heads_that_change_one_line(fork)
    before = branches(fork)
    stopped = rebuild(fork, code=3)

    assert fork.stackmerge("abort").code == 0
    assert branches(fork) == before
    assert not Path(stopped["worktree"]).exists()
    assert len(fork.git("worktree", "list").splitlines()) == 1
    again = fork.stackmerge("abort")
    assert again.code == 1
    assert again.err.startswith("error: no rebuild of 'deploy' is under way\n")
    assert fork.stackmerge("continue").code == 1

    stopped = rebuild(fork, code=3)
    resolve(fork, stopped, {"a": nine(l1="purple")})
    go_on(fork)
    assert fork.graph("deploy", "v1") == (
        "* Merge red <- red\n    M a\n* Merge blue <- blue\n    M a\n    A new\n"
    )


def test_an_answer_that_is_not_replayed_is_by_hand(fork: Sandbox) -> None:
    """What a person makes stands as it is, even where it would not be replayed: it does not parse."""
    fork.commit({"a.py": "a = 1\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a.py": "a = 'red'\n"}, "red")
    fork.branch("blue", "v1", {"a.py": "a = 'blue'\n"}, "blue")
    fork.manifest(manifest("red", "blue"))
    resolve(fork, rebuild(fork, code=3), {"a.py": "a = (\n"})
    assert outcomes(go_on(fork)) == {"red": "clean", "blue": "by hand"}
    assert fork.show("deploy", "a.py") == "a = ("
    assert outcomes(rebuild(fork, "--fresh", code=3)) == {"red": "clean", "blue": "conflict"}
    assert fork.graph("deploy", "v1") == "* Merge red <- red\n    M a.py\n* Merge blue <- blue\n    M a.py\n"
