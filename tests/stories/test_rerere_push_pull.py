"""Two maintainers share the cache through a remote: neither loses what the other recorded."""

from __future__ import annotations

from pathlib import Path

from stackmerge import cache
from stackmerge.repository import Repository
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
    assert pulled.json == {"added": 1, "forgotten": 0}, pulled.err
    assert fork.stackmerge("rerere", "pull", "--json").json == {"added": 0, "forgotten": 0}
    assert fork.stackmerge("rerere", "push").code == 0

    fork.manifest(manifest("red", "blue", "pink"))
    assert outcomes(rebuild(fork)) == {"red": "clean", "blue": "replayed", "pink": "replayed"}
    assert fork.graph("deploy", "v1") == (
        "* Merge red <- red\n    M a\n    M b\n* Merge blue <- blue\n    M a\n* Merge pink <- pink\n    M b\n"
    )


def answers(who: Sandbox) -> list[tuple[str, int]]:
    found = who.stackmerge("rerere", "list", "--json").json["resolutions"]
    return [(one["path"], one["variant"]) for one in found]


def test_what_one_forgets_is_forgotten_by_all_who_join(fork: Sandbox, tmp_path: Path) -> None:
    remote = tmp_path / "shared.git"
    fork.git("init", "-q", "--bare", str(remote))
    other = Sandbox(tmp_path, "other")
    for who in (fork, other):
        two_conflicts(who, remote)
        who.manifest(manifest("red", "blue"))
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="wrong")})
    go_on(fork)
    assert fork.stackmerge("rerere", "push").code == 0
    assert other.stackmerge("rerere", "pull").code == 0
    assert outcomes(rebuild(other)) == {"red": "clean", "blue": "replayed"}
    other.manifest(manifest("red", "blue", "pink"))
    resolve(other, rebuild(other, code=3), {"b": nine(l1="salmon")})
    go_on(other)

    [wrong] = fork.stackmerge("rerere", "list", "--json").json["resolutions"]
    assert fork.stackmerge("rerere", "forget", wrong["id"]).code == 0
    resolve(fork, rebuild(fork, "--fresh", code=3), {"a": nine(l1="purple")})
    go_on(fork)
    for who in (fork, other, fork):
        assert who.stackmerge("rerere", "push").code == 0
        assert rebuild(who, "--fresh")["steps"][1]["outcome"] == "replayed"
        assert who.show("deploy", "a") == nine(l1="purple").rstrip("\n")
    assert sorted(answers(fork)) == sorted(answers(other)) == [("a", 0), ("b", 0)]
    history = fork.git("log", "--format=%s", "refs/stackmerge/rerere")
    assert f"forget {wrong['id']}" in history
    assert "resolve pink" in history

    [right] = [
        one for one in fork.stackmerge("rerere", "list", "--json").json["resolutions"] if one["path"] == "a"
    ]
    assert fork.stackmerge("rerere", "forget", right["id"]).code == 0
    assert fork.stackmerge("rerere", "push").code == 0
    pulled = other.stackmerge("rerere", "pull", "--json")
    assert pulled.json == {"added": 0, "forgotten": 1}
    assert answers(other) == [("b", 0)]


def test_an_answer_that_is_given_again_where_two_disagree_is_the_one_that_counts(fork: Sandbox) -> None:
    two_conflicts(fork, fork.path)
    fork.manifest(manifest("red", "blue"))
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="wrong")})
    go_on(fork)
    with Repository(fork.path) as repository:
        cached = repository.resolutions()
        [text] = cached.text(cached.text_ids()[0])
        images = [repository.objects.blob(image) for image in (text.preimage, text.postimage)]
        cached.add_text(text.id, images[0], images[1].replace(b"wrong", b"other"), text.provenance[0])
        cache.save(repository, cached, "another answer")
    stopped = rebuild(fork, "--fresh", code=3)
    assert stopped["steps"][1]["conflicts"][0]["reason"] == (
        f"two recorded answers disagree: see `stackmerge rerere show {text.id[:12]}`"
    )
    resolve(fork, stopped, {"a": nine(l1="purple")})
    go_on(fork)
    assert outcomes(rebuild(fork, "--fresh")) == {"red": "clean", "blue": "replayed"}
    assert fork.show("deploy", "a") == nine(l1="purple").rstrip("\n")


def test_a_remote_that_is_none(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    for command in ("push", "pull"):
        for name in ("nowhere", "--upload-pack=touch pwned", "."):
            ran = fork.stackmerge("rerere", command, "--", name)
            assert ran.code == 2
            assert ran.err.startswith(f"error: there is no remote {name!r}\nhint: ")
    assert not (fork.path / "pwned").exists()
    assert fork.git("for-each-ref", "refs/stackmerge") == ""
