"""Two maintainers share the cache through a remote: neither loses what the other recorded."""

from __future__ import annotations

from pathlib import Path

from stackmerge import cache
from stackmerge.rawtree import Entry
from stackmerge.repository import Repository
from stackmerge.resolution import Exact, Provenance
from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, rebuild, resolve

BLUE = Provenance("b", "hand", "blue")
PINK = Provenance("b", "train", "pink")


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


def joined(one: Sandbox, other: Sandbox) -> None:
    """Both push, the first once more: then both have what either has."""
    for who in (one, other, one):
        assert who.stackmerge("rerere", "push").code == 0


def test_a_join_puts_no_old_answer_over_its_correction_and_is_nothing_twice(
    fork: Sandbox, tmp_path: Path
) -> None:
    fork.git("init", "-q", "--bare", str(tmp_path / "shared.git"))
    other = Sandbox(tmp_path, "other")
    for who in (fork, other):
        who.commit({"a": "a\n", "aa": "aa\n"}, "one")
        who.git("remote", "add", "origin", str(tmp_path / "shared.git"))
    entry, changed = (Entry(0o100644, fork.git("rev-parse", f"HEAD:{name}")) for name in ("a", "aa"))
    case = ("a", "modify/delete", entry, None, changed)
    with Repository(fork.path) as repository:
        cached = repository.resolutions()
        cached.add_exact(Exact(*case, None, Provenance("a", "hand", when=1)))
        cached.add_text("a" * 40, b"pre", b"post", BLUE)
        cached.add_text("a" * 40, b"pre", b"post", PINK)
        cache.save(repository, cached, "shared")
    joined(fork, fork)
    assert other.stackmerge("rerere", "pull").code == 0
    with Repository(fork.path) as repository:
        cached = repository.resolutions()
        cached.add_exact(Exact(*case, entry, Provenance("a", "hand", when=2)))
        cached.forget_text_of("a" * 40, "b", "blue", "", (b"pre", b"right"))
        cached.add_text("a" * 40, b"pre", b"right", BLUE)
        cache.save(repository, cached, "corrected")
    with Repository(other.path) as repository:
        cached = repository.resolutions()
        cached.add_text("b" * 40, b"pre", b"post", Provenance("z", "hand", "z"))
        cache.save(repository, cached, "something else")
    for _ in range(2):
        joined(other, fork)
        for who in (fork, other):
            with Repository(who.path) as repository:
                cached = repository.resolutions()
                assert [one.answer for one in cached.exact("a")] == [entry, None]
                read = repository.objects.blob
                assert {read(t.postimage): t.provenance for t in cached.text("a" * 40)} == {
                    b"post": (PINK,), b"right": (BLUE,),
                }  # fmt: skip
                assert len(cached.text("b" * 40)) == 1
    assert fork.git("rev-parse", "refs/stackmerge/rerere") == other.git("rev-parse", "refs/stackmerge/rerere")


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
