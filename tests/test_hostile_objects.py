"""Odd and hostile objects: paths, messages, names and headers that no checkout would make."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.sandbox import GIT, Sandbox
from tests.stories.steps import go_on, manifest, merged_by_git, nine, outcomes, rebuild
from tests.test_bad_input import sentence

PATHS = [
    b"new\nline",
    b'quo"te',
    b"-dash",
    b"invalid\xff\xfe",
    b"tab\there",
    b"back\\slash",
    "ümläut".encode(),
]


def raw(fork: Sandbox, *args: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        [GIT, *args], cwd=fork.path, input=stdin, capture_output=True, env=fork.environment, check=True
    )
    return done.stdout


def tree_of(fork: Sandbox, entries: dict[bytes, bytes]) -> bytes:
    """The tree with a file of each content."""
    lines = [
        b"100644 blob %s\t%s\0" % (raw(fork, "hash-object", "-w", "--stdin", stdin=data).strip(), path)
        for path, data in entries.items()
    ]
    return raw(fork, "mktree", "-z", stdin=b"".join(lines)).strip()


def literal_tree(fork: Sandbox, *entries: tuple[bytes, bytes, str]) -> str:
    """A tree with names that `git mktree` would refuse; each entry is mode, name and id."""
    data = b"".join(b"%s %s\0%s" % (mode, name, bytes.fromhex(oid)) for mode, name, oid in entries)
    return raw(fork, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=data).decode().strip()


def commit_of(fork: Sandbox, branch: str, tree: str, *parents: str) -> str:
    options = [word for parent in parents for word in ("-p", parent)]
    made = fork.git("commit-tree", "-m", branch, *options, tree)
    fork.git("update-ref", f"refs/heads/{branch}", made)
    return made


# -- paths


def odd_paths(fork: Sandbox) -> None:
    def tree(line: str) -> str:
        return tree_of(fork, {path: nine(l1=line).encode() for path in PATHS}).decode()

    commit_of(fork, "main", tree("1"))
    fork.git("tag", "v1", "main")
    commit_of(fork, "red", tree("red"), "v1")
    commit_of(fork, "blue", tree("blue"), "v1")
    commit_of(fork, "other", tree_of(fork, {b"b": b"b\n"}).decode())
    fork.manifest(manifest("red", "blue"))


def test_odd_paths_conflict_and_replay(fork: Sandbox) -> None:
    odd_paths(fork)
    stopped = rebuild(fork, code=3)
    paths = {conflict["path"] for conflict in stopped["steps"][1]["conflicts"]}
    assert paths == {path.decode("utf-8", "surrogateescape") for path in PATHS}
    tree = Path(stopped["worktree"])
    for path in PATHS:
        (tree / path.decode("utf-8", "surrogateescape")).write_text(nine(l1="purple"))
    fork.git("add", "-A", cwd=tree)
    go_on(fork)

    again = rebuild(fork, "--fresh")
    assert outcomes(again) == {"red": "clean", "blue": "replayed"}
    expected = tree_of(fork, {path: nine(l1="purple").encode() for path in PATHS}).decode()
    assert fork.git("rev-parse", "deploy^{tree}") == expected


def test_odd_paths_are_shown_without_their_control_characters(fork: Sandbox) -> None:
    odd_paths(fork)
    shown = fork.stackmerge("rebuild")
    assert shown.code == 3
    assert r"blue: new\x0aline (content): " in shown.err
    assert "new\nline" not in shown.err
    unmerged = fork.stackmerge("continue")
    assert sentence(unmerged, 1).startswith("still in conflict: -dash, back\\slash, ")


def dot_git_tree(fork: Sandbox, content: bytes) -> str:
    """A tree with the path ``.git/hooks/post-checkout``."""
    blob = raw(fork, "hash-object", "-w", "--stdin", stdin=content).decode().strip()
    hooks = literal_tree(fork, (b"100755", b"post-checkout", blob))
    inner = literal_tree(fork, (b"40000", b"hooks", hooks))
    plain = raw(fork, "hash-object", "-w", "--stdin", stdin=nine().encode()).decode().strip()
    return literal_tree(fork, (b"40000", b".git", inner), (b"100644", b"a", plain))


def test_a_path_into_the_repository_is_refused(fork: Sandbox) -> None:
    """git itself refuses to check such a tree out; so it must not end on a branch of ours either."""
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    commit_of(fork, "red", dot_git_tree(fork, b"#!/bin/sh\ntouch pwned\n"), "v1")
    fork.manifest(manifest("red"))
    before = fork.git("for-each-ref", "refs/heads")

    said = sentence(fork.stackmerge("rebuild"), 1)
    assert said.startswith("red: the path '.git' is one that git refuses to check out")
    assert fork.git("for-each-ref", "refs/heads") == before
    assert not (fork.path / ".git/hooks/post-checkout").exists()


def test_a_conflict_in_such_a_tree_does_no_harm(fork: Sandbox) -> None:
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("blue", "v1", {"a": nine(l1="blue")}, "blue")
    fork.branch("start", "v1", {"a": nine(l1="start")}, "start")
    commit_of(fork, "red", dot_git_tree(fork, b"#!/bin/sh\ntouch pwned\n"), "start")
    fork.git("update-ref", "refs/heads/red", commit_of(fork, "red", dot_git_tree(fork, b"x"), "v1"))
    fork.manifest(manifest("blue", "red"))
    ran = fork.stackmerge("rebuild")
    assert ran.code in (1, 3)
    assert not (fork.path / ".git/hooks/post-checkout").exists()
    assert not (fork.path / "pwned").exists()


@pytest.mark.parametrize("name", [b"..", b"../../../../outside", b"/outside", b".git", b"."])
def test_attributes_are_never_written_outside(fork: Sandbox, tmp_path: Path, name: bytes) -> None:
    """A folder's name in a tree may be anything; its .gitattributes must stay in our private directory."""
    outside = tmp_path / "outside"
    outside.mkdir()
    if name == b"/outside":
        name = str(outside).encode()
    fork.commit({"a": nine()}, "one")
    blob = raw(fork, "hash-object", "-w", "--stdin", stdin=b"* merge=union\n").decode().strip()
    inner = literal_tree(fork, (b"100644", b".gitattributes", blob))
    plain = fork.git("rev-parse", "HEAD:a")
    base = commit_of(
        fork, "main", literal_tree(fork, (b"40000", name, inner), (b"100644", b"a", plain)), "HEAD"
    )
    fork.git("tag", "v1", base)
    fork.git("branch", "red", fork.git("commit-tree", "-m", "red", "-p", "v1", f"{base}^{{tree}}"))
    fork.manifest(manifest("red"))
    ran = fork.stackmerge("rebuild")
    assert ran.code in (0, 1), ran.err
    assert list(outside.iterdir()) == []
    assert not list(tmp_path.glob("**/.gitattributes"))
    assert not list(Path(tmp_path.anchor, "tmp").glob(".gitattributes"))


def test_attributes_that_are_a_link_are_not_followed(fork: Sandbox, tmp_path: Path) -> None:
    """git does not read a .gitattributes that is a link either."""
    (tmp_path / "secret").write_text("* merge=union\n")
    (fork.path / ".gitattributes").symlink_to(tmp_path / "secret")
    fork.git("add", ".gitattributes")
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue")}, "blue")
    fork.manifest(manifest("red", "blue"))
    assert outcomes(rebuild(fork, code=3)) == {"red": "clean", "blue": "conflict"}


def test_a_file_in_the_way_of_a_folder(fork: Sandbox) -> None:
    """file/directory: git moves the file to `a~<commit>`; the answer is about `a`."""
    fork.commit({"b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": "a file\n"}, "red")
    fork.branch("blue", "v1", {"a/inner": "inner\n"}, "blue")
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "blue"))
    stopped = rebuild(fork, code=3)
    [found] = stopped["steps"][1]["conflicts"]
    assert (found["path"], found["kind"]) == ("a", "file/directory")
    tree = Path(stopped["worktree"])
    moved = next(path.name for path in tree.iterdir() if path.name.startswith("a~"))
    fork.git("rm", "-q", moved, cwd=tree)
    go_on(fork)
    again = rebuild(fork, "--onto", "v2")
    assert outcomes(again) == {"red": "clean", "blue": "replayed"}
    assert fork.git("ls-tree", "-r", "--name-only", "deploy").split() == ["a/inner", "b"]


# -- commits

LATIN = "Grüße von José".encode("latin-1")


def latin_commit(fork: Sandbox, tree: str, parent: str) -> str:
    data = b"".join(
        [
            f"tree {tree}\nparent {parent}\n".encode(),
            b"author Jos\xe9 <jose@example.com> 1700000100 -0330\n",
            b"committer Jos\xe9 <jose@example.com> 1700000200 +1245\n",
            b"encoding ISO-8859-1\n\n",
            LATIN + b"\n\nZeile \x80\xff\n",
        ]
    )
    return raw(fork, "hash-object", "-w", "-t", "commit", "--stdin", stdin=data).decode().strip()


def test_names_and_messages_that_are_not_utf8_are_kept_byte_for_byte(fork: Sandbox) -> None:
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    made = fork.branch("work", "v1", {"a": nine(l1="red")}, "work")
    pick = latin_commit(fork, fork.git("rev-parse", f"{made}^{{tree}}"), fork.git("rev-parse", "v1"))
    fork.git("update-ref", "refs/heads/deploy", pick)
    assert fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy").code == 0
    assert rebuild(fork, "--fresh")["tip"] == pick
    fork.commit({"b": "b\n"}, "two")
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    before, after = (raw(fork, "cat-file", "commit", oid) for oid in (pick, moved["tip"]))
    kept = [part.partition(b"\nauthor ")[2] for part in (before, after)]
    committer = b"committer Jos\xe9 <jose@example.com> 1700000200 +1245"
    assert committer in before
    date = int(fork.git("log", "-1", "--format=%ct", "v2"))
    later = committer if date <= 1700000200 else committer.replace(b"1700000200 +1245", b"%d +0000" % date)
    assert kept[1] == kept[0].replace(committer, later)
    shown = fork.stackmerge("rebuild")
    assert shown.code == 0


def test_a_head_whose_author_is_not_utf8_merges(fork: Sandbox) -> None:
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    made = fork.branch("work", "v1", {"a": nine(l1="red")}, "work")
    head = latin_commit(fork, fork.git("rev-parse", f"{made}^{{tree}}"), fork.git("rev-parse", "v1"))
    fork.git("update-ref", "refs/heads/red", head)
    fork.manifest(manifest("red"))
    assert rebuild(fork)["tree"] == merged_by_git(fork, "v1", "red")


@pytest.mark.parametrize(
    "header", [b"author Ada\n", b"author Ada <a@b> soon +0000\n", b"author\n", b"nonsense\n", b""]
)
def test_a_commit_that_is_malformed_is_named(fork: Sandbox, header: bytes) -> None:
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    tree, parent = fork.git("rev-parse", "v1^{tree}"), fork.git("rev-parse", "v1")
    data = f"tree {tree}\nparent {parent}\n".encode() + header
    data += b"committer Ada <ada@example.com> 1700000000 +0000\n\nred\n"
    head = (
        raw(fork, "hash-object", "-w", "-t", "commit", "--literally", "--stdin", stdin=data).decode().strip()
    )
    fork.git("tag", "red", "v1")
    (fork.path / ".git/refs/heads/red").write_text(head + "\n")
    fork.manifest(manifest(head).replace(f"name: {head}", "name: red"))
    ran = fork.stackmerge("rebuild")
    assert ran.code in (1, 2)
    assert head[:7] in sentence(ran, ran.code) or "'red'" in ran.err


def test_a_signature_does_not_survive_a_change(fork: Sandbox) -> None:
    """A signature is of the commit as it was; kept on another parent it would be a wrong one."""
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    made = fork.branch("work", "v1", {"a": nine(l1="red")}, "work")
    signed = raw(fork, "cat-file", "commit", made).replace(
        b"\n\n", b"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n sig\n -----END PGP SIGNATURE-----\n\n", 1
    )
    pick = raw(fork, "hash-object", "-w", "-t", "commit", "--stdin", stdin=signed).decode().strip()
    fork.git("update-ref", "refs/heads/deploy", pick)
    assert fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy").code == 0
    assert rebuild(fork, "--fresh")["tip"] == pick
    fork.commit({"b": "b\n"}, "two")
    moved = rebuild(fork, "--onto", "main")
    assert b"gpgsig" not in raw(fork, "cat-file", "commit", moved["tip"])


def test_a_step_of_an_odd_name_in_an_adopted_history(fork: Sandbox) -> None:
    """Topics become names of steps and refs; whatever they hold must come out as a valid one."""
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    fork.git("checkout", "-q", "-b", "deploy")
    for number, subject in enumerate(["Merge branch '../../x.lock'", "-rf /", "@{-1}", "a..b", "ü \x1b[31m"]):
        fork.commit({f"f{number}": "x\n"}, subject)
    fork.git("checkout", "-q", "main")
    adopted = fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy")
    assert adopted.code == 0, adopted.err
    same = rebuild(fork, "--fresh")
    assert same["tip"] == fork.git("rev-parse", "deploy")
    for name in outcomes(same):
        fork.git("check-ref-format", f"refs/heads/{name}")
        assert not name.startswith("-")
