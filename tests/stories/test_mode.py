"""Modes: the executable bit merges like content, and a replay keeps it."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, rebuild, resolve, used


def executable(fork: Sandbox, name: str, start: str, files: dict[str, str | bytes | None]) -> None:
    """A branch that makes ``run`` executable and commits ``files``."""
    fork.git("checkout", "-q", "-B", name, start)
    fork.write(files)
    fork.git("update-index", "--chmod=+x", "run")
    (fork.path / "run").chmod(0o755)
    fork.commit({}, name)
    fork.git("checkout", "-q", "main")


def mode(fork: Sandbox, revision: str) -> str:
    return fork.git("ls-tree", revision, "run").split()[0]


def test_one_head_changes_the_mode_and_the_base_the_content(fork: Sandbox) -> None:
    fork.commit({"run": nine()}, "one")
    fork.git("tag", "v1")
    executable(fork, "red", "v1", {})
    fork.commit({"run": nine(l1="two")}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red"))
    rebuild(fork)

    assert outcomes(rebuild(fork, "--onto", "v2")) == {"red": "clean"}
    assert mode(fork, "deploy") == "100755"
    assert fork.show("deploy", "run") == fork.show("v2", "run")
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    M run\n"


def test_a_replayed_file_is_executable_where_the_merge_is(fork: Sandbox) -> None:
    fork.commit({"run": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    executable(fork, "red", "v1", {"run": nine(l1="red")})
    fork.branch("blue", "v1", {"run": nine(l1="blue")}, "blue")
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "blue"))
    resolve(fork, rebuild(fork, code=3), {"run": nine(l1="purple")})
    go_on(fork)
    assert mode(fork, "deploy") == "100755"

    assert outcomes(rebuild(fork, "--onto", "v2")) == {"red": "clean", "blue": "replayed"}
    assert mode(fork, "deploy") == "100755"
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    M run\n* Merge blue <- blue\n    M run\n"


def test_both_add_a_file_with_other_modes(fork: Sandbox) -> None:
    """add/add of one content under two modes: git keeps the executable bit or calls it a conflict."""
    fork.commit({"b": "b\n"}, "one")
    fork.git("tag", "v1")
    executable_content = {"run": nine()}
    executable(fork, "red", "v1", dict(executable_content))
    fork.branch("blue", "v1", dict(executable_content), "blue")
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "blue"))

    stopped = rebuild(fork, code=3)
    assert [(c["path"], c["kind"]) for c in stopped["steps"][1]["conflicts"]] == [("run", "add/add")]
    tree = Path(stopped["worktree"])
    (tree / "run").chmod(0o644)
    fork.git("add", "run", cwd=tree)
    go_on(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "replayed"}
    assert used(moved, "blue") == [("exact", "run")]
    assert mode(fork, "deploy") == "100644"
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    A run\n* Merge blue <- blue\n    M run\n"
