"""While a rebuild waits for a person, no other command takes its place, and nothing of one stop gets into another."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackmerge.repository import Repository
from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, rebuild, resolve
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


def two_stops(fork: Sandbox, green_ignores: str = "*.o\n") -> Path:
    """A stack that stops at blue, and then at green; the work tree of the first stop, resolved."""
    fork.commit({"a": nine(), ".gitignore": "*.o\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue")}, "blue")
    fork.branch("green", "v1", {"a": nine(l1="green"), ".gitignore": green_ignores}, "green")
    fork.manifest(manifest("red", "blue", "green"))
    stopped = rebuild(fork, code=3)
    resolve(fork, stopped, {"a": nine(l1="purple")})
    return Path(stopped["worktree"])


def test_untracked_files_are_refused_and_named(fork: Sandbox) -> None:
    tree = two_stops(fork)
    for name in ("note", "x/1", "x/2", "x/3", "x/4", "ignored.o"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text("mine\n")
    many = fork.stackmerge("continue")
    assert many.code == 1
    assert many.err == (
        "error: untracked: note, x/1, x/2 and 2 more\n"
        f"hint: `git add` what belongs to the step and remove the rest in {tree}, then `continue`\n"
    )
    fork.git("add", "x", cwd=tree)
    one = fork.stackmerge("continue")
    assert one.code == 1
    assert one.err.startswith("error: untracked: note\nhint: ")
    assert (tree / "note").read_text() == "mine\n"

    (tree / "note").unlink()
    go_on(fork, code=3)
    assert fork.git("ls-tree", "--name-only", "refs/stackmerge/deploy/journal").split() == [
        ".gitignore", "a", "x",
    ]  # fmt: skip
    assert (tree / "ignored.o").exists()


def test_a_stop_begins_in_a_clean_tree(fork: Sandbox) -> None:
    """What the next tree no longer ignores is removed: `git add -A` would take it."""
    tree = two_stops(fork, green_ignores="*.d\n")
    for name in ("built.o", "out/built.o"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text("built\n")
    stopped = go_on(fork, code=3)
    assert stopped["steps"][-1]["name"] == "green"
    assert fork.git("status", "--porcelain", "--ignored", cwd=tree).splitlines() == ["M  .gitignore", "UU a"]

    (tree / "a").write_text(nine(l1="black"))
    fork.git("add", "-A", cwd=tree)
    go_on(fork)
    assert fork.git("ls-tree", "-r", "--name-only", "deploy").split() == [".gitignore", "a"]


def test_stacks_of_like_names_share_no_work_tree(fork: Sandbox) -> None:
    names = ["a/b", "a%b", "a%2Fb", "a%252Fb", "a", "b", "a%", "a%25"]
    with Repository(fork.path) as repository:
        assert len({repository.private_to(name) for name in names}) == len(names)
        assert {repository.private_to(name).parent for name in names} == {repository.private}
