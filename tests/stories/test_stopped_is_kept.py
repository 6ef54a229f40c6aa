"""While a rebuild waits for a person, no other command takes its place, and nothing of one stop gets into another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, rebuild
from tests.untouched import untouched


def stopped_at_blue(fork: Sandbox) -> Path:
    """Two accepted states, then a rebuild that stops at blue; its work tree, half edited."""
    fork.commit({"a": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue")}, "blue")
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red"))
    rebuild(fork)
    rebuild(fork, "--onto", "v2")
    fork.manifest(manifest("red", "blue"))
    tree = Path(rebuild(fork, code=3)["worktree"])
    (tree / "a").write_text("half edited\n")
    return tree


@pytest.mark.parametrize(
    "command",
    [
        ["rebuild"],
        ["undo"],
        ["undo", "1"],
        ["adopt", "--base", "v2", "--tip", "deploy", "--manifest", "other.yaml"],
    ],
    ids=" ".join,
)
def test_a_stopped_rebuild_is_not_thrown_away(fork: Sandbox, command: list[str]) -> None:
    tree = stopped_at_blue(fork)
    with untouched(fork):
        refused = fork.stackmerge(*command)
    assert refused.code == 1
    assert refused.err == (
        "error: a rebuild of 'deploy' is stopped at blue\n"
        "hint: `stackmerge continue` or `stackmerge abort` it first\n"
    )
    assert (tree / "a").read_text() == "half edited\n"
    assert not (fork.path / "other.yaml").exists()

    (tree / "a").write_text(nine(l1="purple"))
    fork.git("add", "a", cwd=tree)
    go_on(fork)
    assert fork.show("deploy", "a").startswith("purple\n")


def test_after_abort_undo_goes_back(fork: Sandbox) -> None:
    stopped_at_blue(fork)
    assert fork.stackmerge("abort").code == 0
    assert fork.stackmerge("undo").code == 0
    assert fork.graph("deploy", "v1") == "* Merge red <- red\n    M a\n"
