"""The base renames a file that two heads change: the answer follows the rename."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, rebuild, resolve, used


def test_an_answer_follows_a_rename(fork: Sandbox) -> None:
    fork.commit({"a": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue")}, "blue")
    fork.manifest(manifest("red", "blue"))
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple")})
    go_on(fork)
    fork.git("mv", "a", "moved")
    fork.commit({}, "move it")
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "replayed"}
    assert used(moved, "blue") == [("text", "moved")]
    assert fork.show("deploy", "moved") == nine(l1="purple").rstrip("\n")
    assert fork.graph("deploy", "v2") == (
        "* Merge red <- red\n    M moved\n* Merge blue <- blue\n    M moved\n"
    )


def test_a_later_step_moves_the_file_that_was_resolved(fork: Sandbox) -> None:
    """The tip shows the answer at another path, which is proven by the answer all the same."""
    before = "".join(f"int v{n};\n" for n in range(30))
    fork.commit({"util.c": before}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"util.c": before.replace("v10;", "v10 = 1;")}, "red")
    fork.branch("blue", "v1", {"util.c": None, "str.c": before}, "blue")
    fork.commit({"util.c": before.replace("v10;", "v10 = 2;")}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "blue"))
    rebuild(fork)
    stopped = rebuild(fork, "--onto", "v2", code=3)
    resolve(fork, stopped, {"util.c": before.replace("v10;", "v10 = 3;")})
    done = go_on(fork)
    assert outcomes(done) == {"red": "replayed", "blue": "clean"}
    assert done["proof"]["holds"]
    assert {one["path"]: one["verdict"] for one in done["proof"]["paths"]}["str.c"] == "resolved"


def test_a_file_that_both_renamed_keeps_no_markers(fork: Sandbox) -> None:
    """git makes them one longer there than elsewhere."""
    before = "".join(f"int v{n};\n" for n in range(30))
    fork.commit({"src/util.c": before}, "one")
    fork.git("tag", "v0")
    red = before.replace("v10;", "v10 = 1;")
    fork.branch("red", "v0", {"src/util.c": None, "src/str.c": red}, "red")
    fork.commit({"src/util.c": None, "src/text.c": before.replace("v10;", "v10 = 2;")}, "two")
    fork.git("tag", "v1")
    fork.manifest(manifest("red"))
    stopped = rebuild(fork, code=3)
    tree = Path(stopped["worktree"])
    assert "<<<<<<<< the stack below" in (tree / "src/str.c").read_text()
    fork.git("rm", "-q", "--cached", "src/util.c", cwd=tree)
    fork.git("add", "-A", cwd=tree)
    refused = fork.stackmerge("continue")
    assert refused.code == 1
    assert refused.err.startswith("error: src/str.c still holds conflict markers\n")
    resolve(fork, stopped, {"src/str.c": red, "src/text.c": red})
    assert go_on(fork)["status"] == "complete"


def test_both_rename_a_file_to_other_names(fork: Sandbox) -> None:
    """rename/rename is three unmerged paths; each has an exact answer."""
    fork.commit({"a": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": None, "red": nine()}, "red")
    fork.branch("blue", "v1", {"a": None, "blue": nine()}, "blue")
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "blue"))

    stopped = rebuild(fork, code=3)
    kinds = {(c["path"], c["kind"]) for c in stopped["steps"][1]["conflicts"]}
    assert kinds == {("a", "rename/rename"), ("blue", "rename/rename"), ("red", "rename/rename")}
    resolve(fork, stopped, {"red": nine()})
    fork.git("rm", "-q", "a", "blue", cwd=fork.path / ".git/stackmerge/deploy/worktree")
    done = go_on(fork)
    assert fork.git("ls-tree", "--name-only", "deploy").split() == ["b", "red"]
    assert outcomes(done) == {"red": "clean", "blue": "empty"}

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "empty"}
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    D a\n    A red\n"
