"""Symbolic links have no markers; what a person answers replays exactly."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, outcomes, rebuild, used


def link(fork: Sandbox, name: str, start: str, target: str) -> None:
    """A branch on which ``current`` points to ``target``."""
    fork.git("checkout", "-q", "-B", name, start)
    path = fork.path / "current"
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    fork.git("add", "current")
    fork.commit({}, name)
    fork.git("checkout", "-q", "main")


def test_two_heads_point_a_link_elsewhere(fork: Sandbox) -> None:
    fork.commit({"b": "b\n"}, "root")
    link(fork, "start", "main", "one")
    fork.git("merge", "-q", "--ff-only", "start")
    fork.git("tag", "v1")
    link(fork, "red", "v1", "red")
    link(fork, "blue", "v1", "blue")
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "blue"))

    stopped = rebuild(fork, code=3)
    [conflict] = stopped["steps"][1]["conflicts"]
    assert (conflict["path"], conflict["kind"]) == ("current", "symlink")
    tree = Path(stopped["worktree"])
    (tree / "current").unlink(missing_ok=True)
    (tree / "current").symlink_to("purple")
    fork.git("add", "current", cwd=tree)
    go_on(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "replayed"}
    assert used(moved, "blue") == [("exact", "current")]
    assert fork.git("ls-tree", "deploy", "current").startswith("120000 blob ")
    assert fork.show("deploy", "current") == "purple"
    assert fork.graph("deploy", "v2") == (
        "* Merge red <- red\n    M current\n* Merge blue <- blue\n    M current\n"
    )


def test_a_link_into_nowhere_is_never_followed(fork: Sandbox, tmp_path: Path) -> None:
    """The answer beside a hostile link is written into objects, not through the link."""
    outside = tmp_path / "outside"
    outside.write_text("untouched\n")
    fork.commit({"b": "b\n"}, "root")
    link(fork, "start", "main", str(outside))
    fork.git("merge", "-q", "--ff-only", "start")
    fork.git("tag", "v1")
    link(fork, "red", "v1", "../../../outside")
    fork.git("checkout", "-q", "-B", "blue", "v1")
    (fork.path / "current").unlink()
    fork.commit({"current": "a file\n"}, "blue")
    fork.git("checkout", "-q", "main")
    fork.manifest(manifest("red", "blue"))

    stopped = rebuild(fork, code=3)
    assert outcomes(stopped) == {"red": "clean", "blue": "conflict"}
    assert outside.read_text() == "untouched\n"
    assert fork.stackmerge("abort").code == 0
    assert outside.read_text() == "untouched\n"
    assert fork.graph(stopped["tip"], "v1") == "* Merge red <- red\n    M current\n"
