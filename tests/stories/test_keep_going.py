"""--keep-going leaves out what conflicts and lists all of it at once; nothing is accepted."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import branches, go_on, manifest, nine, outcomes, rebuild, resolve


def test_every_conflict_is_listed(fork: Sandbox) -> None:
    fork.commit({"a": nine(), "b": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red"), "b": nine(l1="red")}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue")}, "blue")
    fork.branch("green", "v1", {"g": "green\n"}, "green")
    fork.branch("pink", "v1", {"b": nine(l1="pink")}, "pink")
    fork.manifest(manifest("red", "blue", "green", "pink"))
    before = branches(fork)

    listed = rebuild(fork, "--keep-going", code=3)
    assert outcomes(listed) == {"red": "clean", "blue": "conflict", "green": "clean", "pink": "conflict"}
    assert [(c["path"], c["where"]) for s in listed["steps"] for c in s["conflicts"]] == [
        ("a", "red"),
        ("b", "red"),
    ]
    assert "worktree" not in listed
    assert branches(fork) == before
    assert fork.graph(listed["tip"], "v1") == (
        "* Merge red <- red\n    M a\n    M b\n* Merge green <- green\n    A g\n"
    )

    shown = fork.stackmerge("rebuild", "--keep-going")
    assert shown.code == 3
    assert "blue: a (content): no resolution with id" in shown.err
    assert "pink: b (content): no resolution with id" in shown.err
    assert fork.stackmerge("accept").err.startswith("error: the rebuild is not done: conflict\n")

    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple")})
    stopped = go_on(fork, code=3)
    assert outcomes(stopped) == {"red": "clean", "blue": "replayed", "green": "clean", "pink": "conflict"}
    resolve(fork, stopped, {"b": nine(l1="salmon")})
    go_on(fork)
    assert fork.graph("deploy", "v1") == (
        "* Merge red <- red\n    M a\n    M b\n* Merge blue <- blue\n    M a\n"
        "* Merge green <- green\n    A g\n* Merge pink <- pink\n    M b\n"
    )
