"""Heads come from a remote whose authors force-push: update shows what changed, and every old head is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandbox import Sandbox
from tests.stories.steps import manifest, nine, outcomes, rebuild

PULL = "stack: deploy\nbase: v1\nsteps:\n- name: red\n  pr: 7\n"


@pytest.fixture
def author(tmp_path: Path) -> Sandbox:
    """Somebody else's clone, with a bare repository that both know as origin."""
    author = Sandbox(tmp_path, "author")
    author.git("init", "-q", "--bare", str(tmp_path / "upstream.git"))
    author.git("remote", "add", "origin", str(tmp_path / "upstream.git"))
    author.commit({"a": nine()}, "one")
    author.git("tag", "v1")
    author.branch("red", "v1", {"a": nine(l1="red")}, "red")
    author.git("push", "-q", "origin", "main", "red", "red:refs/pull/7/head", "v1")
    return author


def test_an_author_force_pushes(fork: Sandbox, author: Sandbox, tmp_path: Path) -> None:
    fork.git("remote", "add", "origin", str(tmp_path / "upstream.git"))
    fork.git("fetch", "-q", "--tags", "origin")
    fork.manifest(manifest("origin/red").replace("- name: origin/red", "- name: red"))
    first = rebuild(fork)
    old = author.git("rev-parse", "red")
    assert first["steps"][0]["head"] == old

    author.clock += 600
    author.branch("red", "v1", {"a": nine(l1="RED"), "r": "r\n"}, "red, another try")
    author.git("push", "-q", "--force", "origin", "red")
    new = author.git("rev-parse", "red")
    assert rebuild(fork)["tip"] == first["tip"], "a head stays pinned until it is updated"

    updated = fork.stackmerge("update", "--json")
    assert updated.code == 0, updated.err
    [step] = updated.json["steps"]
    assert (step["old"], step["new"], step["commits"], step["rewritten"]) == (old, new, 1, True)
    assert fork.git("rev-parse", "deploy") == first["tip"]
    moved = rebuild(fork)
    assert outcomes(moved) == {"red": "clean"}
    assert moved["proof"]["counts"] == {"explained": 2}

    fork.git("fetch", "-q", "origin", "+red:refs/remotes/origin/red")
    fork.git("reflog", "expire", "--expire=now", "--all")
    fork.git("gc", "-q", "--prune=now")
    assert fork.git("rev-parse", f"refs/stackmerge/deploy/heads/red/{old[:12]}") == old
    assert fork.git("cat-file", "-t", old) == "commit"
    assert fork.graph("deploy", "v1") == "* Merge red <- red, another try\n    M a\n    A r\n"


def test_a_pull_request_is_fetched_by_its_number(fork: Sandbox, author: Sandbox, tmp_path: Path) -> None:
    fork.git("remote", "add", "origin", str(tmp_path / "upstream.git"))
    fork.git("fetch", "-q", "--tags", "origin")
    fork.manifest(PULL)

    unknown = fork.stackmerge("rebuild")
    assert unknown.code == 2
    assert unknown.err.startswith(
        "error: stackmerge.yaml:4: 'refs/pull/7/head' is not a commit that is here\n"
    )
    updated = fork.stackmerge("update", "red", "--json")
    assert updated.code == 0, updated.err
    assert [step["note"] for step in updated.json["steps"]] == ["pinned for the first time"]
    built = rebuild(fork)
    assert outcomes(built) == {"red": "clean"}
    assert built["steps"][0]["head"] == author.git("rev-parse", "red")
    again = fork.stackmerge("update", "red")
    assert "unchanged" in again.err
    assert fork.graph("deploy", "v1") == "* Merge red (PR 7) <- red\n    M a\n"


def test_what_cannot_be_fetched_is_said_and_keeps_no_other_step_from_it(
    fork: Sandbox, author: Sandbox, tmp_path: Path
) -> None:
    fork.git("remote", "add", "origin", str(tmp_path / "upstream.git"))
    fork.git("fetch", "-q", "--tags", "origin", "main")
    fork.manifest(PULL.replace("7", "8") + "- name: blue\n  merge: origin/red\n")
    missing = fork.stackmerge("update", "--json")
    assert missing.code == 1
    red, blue = missing.json["steps"]
    assert red["failed"]
    assert red["note"] == "fetch origin: fatal: couldn't find remote ref refs/pull/8/head"
    assert (blue["new"], blue["note"]) == (author.git("rev-parse", "red"), "pinned for the first time")
    assert "blue" in (fork.path / "stackmerge.lock").read_text()
    assert "red:" not in (fork.path / "stackmerge.lock").read_text()

    (fork.path / "stackmerge.lock").unlink()
    fork.git("remote", "set-url", "origin", str(tmp_path / "nowhere.git"))
    gone = fork.stackmerge("update")
    assert gone.code == 1
    assert "fetch origin: fatal: " in gone.err
    assert fork.stackmerge("update", "mauve").code == 2
    assert not (fork.path / "stackmerge.lock").exists()
    assert author.graph("red", "v1") == "* red\n    M a\n"


def test_a_head_that_was_pinned_elsewhere_and_is_gone(fork: Sandbox, author: Sandbox, tmp_path: Path) -> None:
    """A colleague's lock names a head that the author has replaced since."""
    fork.git("remote", "add", "origin", str(tmp_path / "upstream.git"))
    fork.git("fetch", "-q", "--tags", "origin", "main")
    fork.manifest(PULL)
    assert fork.stackmerge("update").code == 0
    lock = fork.path / "stackmerge.lock"
    lock.write_text(lock.read_text().replace(author.git("rev-parse", "red"), "1" * 40))
    planned = fork.stackmerge("plan")
    assert planned.err.endswith("hint: run `stackmerge update red`\n"), planned.err
    updated = fork.stackmerge("update", "red", "--json")
    assert updated.code == 0, updated.err
    [step] = updated.json["steps"]
    assert (step["new"], step["note"]) == (
        author.git("rev-parse", "red"),
        "111111111111 is not here, so what changed nobody can tell",
    )
    assert outcomes(rebuild(fork)) == {"red": "clean"}


def test_steps_whose_names_are_one_below_the_other(fork: Sandbox, author: Sandbox, tmp_path: Path) -> None:
    fork.git("remote", "add", "origin", str(tmp_path / "upstream.git"))
    fork.git("fetch", "-q", "--tags", "origin", "main")
    more = PULL.replace("red", "fix") + "- name: fix/more\n  merge: origin/main\n"
    fork.manifest(more)
    assert fork.stackmerge("update").code == 0
    assert author.git("rev-parse", "red") in (fork.path / "stackmerge.lock").read_text()


def test_variables_that_redirect_git_do_not_reach_a_fetch(
    fork: Sandbox, author: Sandbox, tmp_path: Path
) -> None:
    fork.git("remote", "add", "origin", str(tmp_path / "upstream.git"))
    fork.git("fetch", "-q", "--tags", "origin", "main")
    fork.manifest(PULL)
    other = tmp_path / "other"
    other.mkdir()
    fork.environment |= {
        "GIT_OBJECT_DIRECTORY": str(other),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(fork.path / ".git/objects"),
    }
    assert fork.stackmerge("update").code == 0
    del fork.environment["GIT_OBJECT_DIRECTORY"], fork.environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"]
    assert list(other.rglob("*")) == []
    assert fork.git("cat-file", "-t", author.git("rev-parse", "red")) == "commit"
