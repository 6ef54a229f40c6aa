"""A cache entry that is damaged, or that a stranger made up, is one clear sentence; nothing is replayed from it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, rebuild, resolve
from tests.test_bad_input import sentence
from tests.untouched import untouched

REF = "refs/stackmerge/rerere"


def trained(fork: Sandbox) -> str:
    """A stack with one text and one exact answer, and a fixup; the id of the text conflict."""
    fork.commit({"a": nine(), "gone": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red"), "gone": None}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue"), "gone": nine(l1="blue")}, "blue")
    fork.manifest(manifest("red", "blue"))
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple"), "gone": None, "extra": "extra\n"})
    go_on(fork)
    [text] = fork.git("ls-tree", "--name-only", f"{REF}:rr-cache").split()
    return text


def path_in(fork: Sandbox, folder: str) -> str:
    """The one entry of a kind in the cache."""
    [path] = [
        line.rpartition("/")[0]
        for line in fork.git("ls-tree", "-r", "--name-only", REF).splitlines()
        if line.startswith(f"{folder}/") and line.endswith("/provenance")
    ]
    return path


def rewrite(fork: Sandbox, changes: dict[str, str | None]) -> None:
    """Put other blobs (content, or None for none) at paths of the cache."""
    index = {"GIT_INDEX_FILE": str(fork.path / ".git/cache-index")}
    plain, fork.environment = fork.environment, fork.environment | index
    fork.git("read-tree", REF)
    for path, content in changes.items():
        if content is None:
            fork.git("rm", "-q", "--cached", "--", path)
            continue
        blob = fork.git("hash-object", "-w", "--stdin", stdin=content.encode())
        fork.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    tree = fork.git("write-tree")
    fork.environment = plain
    fork.git("update-ref", REF, fork.git("commit-tree", "-m", "damage", "-p", REF, tree))


def refused(fork: Sandbox, *args: str) -> str:
    """The one sentence with which a command refuses; no branch, index or file moves."""
    own = fork.git("for-each-ref", "refs/stackmerge")
    with untouched(fork):
        said = sentence(fork.stackmerge(*args), 1)
    assert fork.git("for-each-ref", "refs/stackmerge") == own
    return said


def damage_blob(fork: Sandbox, oid: str) -> None:
    path = fork.path / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:10] + b"damage")


def test_a_blob_that_is_damaged(fork: Sandbox) -> None:
    text = trained(fork)
    oid = fork.git("rev-parse", f"{REF}:rr-cache/{text}/postimage")
    damage_blob(fork, oid)
    for args in (["plan", "--onto", "v1"], ["rerere", "show", text], ["rerere", "export", "out"]):
        if args[0] == "plan":
            fork.branch("blue", "blue", {"b": "b\n"}, "more")
            assert fork.stackmerge("update").code == 0
        assert refused(fork, *args) == f"object {oid} is missing or damaged"


def test_a_preimage_without_a_postimage_is_no_answer(fork: Sandbox) -> None:
    """As in git's rr-cache, where it means that the conflict is not resolved yet."""
    text = trained(fork)
    rewrite(fork, {f"rr-cache/{text}/postimage": None})
    found = rebuild(fork, "--fresh", code=3)
    assert outcomes(found) == {"red": "clean", "blue": "conflict"}
    assert found["steps"][1]["conflicts"][0]["reason"] == f"no resolution with id {text[:12]} is known"


def test_a_postimage_without_a_preimage_is_no_answer(fork: Sandbox) -> None:
    text = trained(fork)
    rewrite(fork, {f"rr-cache/{text}/preimage": None})
    assert outcomes(rebuild(fork, "--fresh", code=3)) == {"red": "clean", "blue": "conflict"}


def of(**changed: object) -> Callable[[dict[str, object]], str]:
    return lambda found: json.dumps(found | changed)


def without(key: str) -> Callable[[dict[str, object]], str]:
    return lambda found: json.dumps({k: v for k, v in found.items() if k != key})


NO_RECORD: dict[str, Callable[[dict[str, object]], str]] = {
    "no JSON": lambda _: "{",
    "empty": lambda _: "",
    "a list": lambda _: "[1]",
    "a number": lambda _: "7",
    "parents of another kind": of(parents=7),
    "a path of another kind": of(path=["a"]),
    "a date of another kind": of(when="yesterday"),
}


@pytest.mark.parametrize(
    ("folder", "how"),
    [
        *(("exact", how) for how in NO_RECORD),
        ("exact", "no path"),
        ("fixup", "no path"),
        ("fixup", "no JSON"),
    ],
)
def test_a_provenance_that_is_no_record(trained_once: Sandbox, folder: str, how: str) -> None:
    fork = trained_once
    before = fork.git("rev-parse", REF)
    path = f"{path_in(fork, folder)}/provenance"
    found = json.loads(fork.git("show", f"{REF}:{path}"))
    change = (NO_RECORD | {"no path": without("path")})[how]
    try:
        rewrite(fork, {path: change(found)})
        oid = fork.git("rev-parse", f"{REF}:{path}")
        assert refused(fork, "rerere", "list") == f"a provenance record in {REF} is damaged ({oid})"
    finally:
        fork.git("update-ref", REF, before)


@pytest.mark.parametrize("how", ["{", "[1]", '{"0": [7]}', '{"0": [{"path": 7}]}', '{"0": [{"parents": 1}]}'])
def test_a_provenance_of_a_text_that_is_no_record(trained_once: Sandbox, how: str) -> None:
    fork = trained_once
    before = fork.git("rev-parse", REF)
    path = f"{path_in(fork, 'rr-cache')}/provenance"
    rewrite(fork, {path: how})
    oid = fork.git("rev-parse", f"{REF}:{path}")
    try:
        assert refused(fork, "rerere", "list") == f"a provenance record in {REF} is damaged ({oid})"
    finally:
        fork.git("update-ref", REF, before)


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    fork = Sandbox(tmp_path_factory.mktemp("cache"))
    trained(fork)
    return fork


def test_an_exact_answer_under_a_name_that_is_no_number(fork: Sandbox) -> None:
    """Another tool's file is no answer of ours; it is left alone."""
    trained(fork)
    rewrite(
        fork, {"exact/readme": "hello\n", "fixup/readme": "hello\n", "rr-cache/readme": "hello\n", "x": "x"}
    )
    assert len(fork.stackmerge("rerere", "list", "--json").json["resolutions"]) == 3
    assert outcomes(rebuild(fork, "--fresh")) == {"red": "clean", "blue": "fixup"}


@pytest.mark.parametrize("target", ["v1^{tree}", "v1:a"])
def test_a_ref_that_is_no_commit(fork: Sandbox, target: str) -> None:
    trained(fork)
    fork.git("update-ref", REF, fork.git("rev-parse", target))
    said = refused(fork, "rerere", "list")
    assert said.endswith("is not what its reference says")


def test_a_journal_that_is_no_journal(fork: Sandbox) -> None:
    trained(fork)
    fork.git("update-ref", "refs/stackmerge/deploy/journal", "v1")
    assert refused(fork, "status") == "the journal refs/stackmerge/deploy/journal is damaged"


@pytest.mark.parametrize("path", ["../pwned", ".git/hooks/post-checkout", "a/../../pwned"])
def test_a_fixup_that_reaches_out_of_the_tree(fork: Sandbox, path: str) -> None:
    """A cache that was pulled from somebody says which path a fixup is for; it must be one in the tree."""
    trained(fork)
    there = f"{path_in(fork, 'fixup')}/provenance"
    found = json.loads(fork.git("show", f"{REF}:{there}"))
    rewrite(fork, {there: json.dumps(found | {"path": path})})
    branches = fork.git("for-each-ref", "refs/heads")
    said = sentence(fork.stackmerge("rebuild", "--fresh"), 1)
    assert "is one that git refuses to check out" in said
    assert fork.git("for-each-ref", "refs/heads") == branches
    assert not (fork.path / ".git/hooks/post-checkout").exists()
    assert not (fork.path.parent / "pwned").exists()
