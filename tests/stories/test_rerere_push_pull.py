"""Two maintainers share the cache through a remote: neither loses what the other recorded."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, rebuild, resolve


def two_conflicts(who: Sandbox, remote: Path) -> None:
    """The same history in every clone: red and blue clash in a, red and pink in b."""
    who.commit({"a": nine(), "b": nine()}, "one")
    who.git("tag", "v1")
    who.branch("red", "v1", {"a": nine(l1="red"), "b": nine(l1="red")}, "red")
    who.branch("blue", "v1", {"a": nine(l1="blue")}, "blue")
    who.branch("pink", "v1", {"b": nine(l1="pink")}, "pink")
    who.git("remote", "add", "origin", str(remote))


def test_push_joins_and_pull_brings_all(fork: Sandbox, tmp_path: Path) -> None:
    remote = tmp_path / "shared.git"
    fork.git("init", "-q", "--bare", str(remote))
    other = Sandbox(tmp_path, "other")
    two_conflicts(fork, remote)
    two_conflicts(other, remote)
    fork.manifest(manifest("red", "blue"))
    other.manifest(manifest("red", "pink"))
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple")})
    go_on(fork)
    resolve(other, rebuild(other, code=3), {"b": nine(l1="salmon")})
    go_on(other)

    nothing = fork.stackmerge("rerere", "pull")
    assert nothing.code == 1
    assert nothing.err == (
        "error: origin holds no cache yet\nhint: `stackmerge rerere push origin` makes one\n"
    )
    for who in (fork, other):
        pushed = who.stackmerge("rerere", "push", "--json")
        assert pushed.code == 0, pushed.err
    assert other.git("ls-remote", "origin").split() == [pushed.json["commit"], "refs/stackmerge/rerere"]
    pulled = fork.stackmerge("rerere", "pull", "--json")
    assert pulled.json == {"added": 1}, pulled.err
    assert fork.stackmerge("rerere", "pull", "--json").json == {"added": 0}
    assert fork.stackmerge("rerere", "push").code == 0

    fork.manifest(manifest("red", "blue", "pink"))
    assert outcomes(rebuild(fork)) == {"red": "clean", "blue": "replayed", "pink": "replayed"}
    assert fork.graph("deploy", "v1") == (
        "* Merge red <- red\n    M a\n    M b\n* Merge blue <- blue\n    M a\n* Merge pink <- pink\n    M b\n"
    )


def test_a_remote_that_is_none(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    for command in ("push", "pull"):
        for name in ("nowhere", "--upload-pack=touch pwned", "."):
            ran = fork.stackmerge("rerere", command, "--", name)
            assert ran.code == 2
            assert ran.err.startswith(f"error: there is no remote {name!r}\nhint: ")
    assert not (fork.path / "pwned").exists()
    assert fork.git("for-each-ref", "refs/stackmerge") == ""
