"""What real git rerere recorded replays here, and what was resolved here replays in real git rerere."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, rebuild, resolve, used

GOLDEN = "* Merge red <- red\n    M a\n* Merge blue <- blue\n    M a\n"


def two_heads(fork: Sandbox) -> None:
    fork.commit({"a": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue")}, "blue")
    fork.manifest(manifest("red", "blue"))


def test_import_what_git_recorded(fork: Sandbox) -> None:
    two_heads(fork)
    fork.git("config", "rerere.enabled", "true")
    fork.git("checkout", "-q", "--detach", "red")
    fork.git("merge", "-q", "blue", check=False)
    fork.write({"a": nine(l1="purple")})
    fork.git("commit", "-q", "-m", "resolved with rerere")
    fork.git("checkout", "-q", "main")
    (fork.path / ".git/rr-cache/not-an-id").mkdir()

    imported = fork.stackmerge("rerere", "import", "--json")
    assert imported.code == 0, imported.err
    assert imported.json == {"imported": 1, "skipped": 1}
    assert "not-an-id: not the name of a conflict id" in imported.err
    assert fork.stackmerge("rerere", "import", "--json").json == {"imported": 0, "skipped": 1}

    done = rebuild(fork)
    assert outcomes(done) == {"red": "clean", "blue": "replayed"}
    assert used(done, "blue") == [("text", "a")]
    assert fork.show("deploy", "a") == nine(l1="purple").rstrip("\n")
    assert fork.graph("deploy", "v1") == GOLDEN


def test_export_so_that_git_replays(fork: Sandbox, tmp_path: Path) -> None:
    two_heads(fork)
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple")})
    go_on(fork)
    exported = fork.stackmerge("rerere", "export", str(fork.path / ".git/rr-cache"), "--json")
    assert exported.code == 0, exported.err
    assert exported.json == {"exported": 1}
    again = fork.stackmerge("rerere", "export", str(fork.path / ".git/rr-cache"), "--json")
    assert again.json == {"exported": 0}

    by_git = tmp_path / "by-git"
    fork.git("worktree", "add", "-q", "--detach", str(by_git), "red")
    options = ("-c", "rerere.enabled=true", "-c", "rerere.autoupdate=true")
    fork.git(*options, "merge", "-q", "--no-edit", "blue", cwd=by_git, check=False)
    assert fork.git("status", "--porcelain", cwd=by_git) == "M  a"
    assert (by_git / "a").read_text() == nine(l1="purple")
    assert fork.git("write-tree", cwd=by_git) == fork.git("rev-parse", "deploy^{tree}")
    assert fork.graph("deploy", "v1") == GOLDEN


def test_what_was_exported_brings_nothing_new(fork: Sandbox, tmp_path: Path) -> None:
    two_heads(fork)
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple")})
    go_on(fork)
    before = fork.stackmerge("rerere", "list", "--json").json
    assert [(one["path"], one["step"]) for one in before["resolutions"]] == [("a", "blue")]
    cache = fork.git("rev-parse", "refs/stackmerge/rerere")
    assert fork.stackmerge("rerere", "export", str(tmp_path / "rr-cache")).code == 0
    imported = fork.stackmerge("rerere", "import", str(tmp_path / "rr-cache"), "--json")
    assert imported.json == {"imported": 0, "skipped": 0}
    assert fork.stackmerge("rerere", "list", "--json").json == before
    assert fork.git("rev-parse", "refs/stackmerge/rerere") == cache
    assert outcomes(rebuild(fork, "--fresh")) == {"red": "clean", "blue": "replayed"}
    assert fork.graph("deploy", "v1") == GOLDEN


def test_what_a_merge_taught_later_is_listed_with_its_path(fork: Sandbox, tmp_path: Path) -> None:
    two_heads(fork)
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple")})
    go_on(fork)
    assert fork.stackmerge("rerere", "export", str(tmp_path / "rr-cache")).code == 0
    [entry] = fork.stackmerge("rerere", "list", "--json").json["resolutions"]
    assert fork.stackmerge("rerere", "forget", entry["id"]).code == 0
    assert fork.stackmerge("rerere", "import", str(tmp_path / "rr-cache"), "--json").json["imported"] == 1
    assert fork.stackmerge("rerere", "list").out == f"{entry['id'][:12]}  text   (path unknown)\n"
    assert fork.stackmerge("train", "v1..deploy").code == 0
    assert fork.stackmerge("rerere", "list").out.split()[2:] == ["a"]
    assert fork.graph("deploy", "v1") == GOLDEN


def test_a_directory_that_is_none(fork: Sandbox) -> None:
    two_heads(fork)
    missing = fork.stackmerge("rerere", "import")
    assert missing.code == 2
    assert "rr-cache is not a directory\nhint: " in missing.err
    assert outcomes(rebuild(fork, code=3)) == {"red": "clean", "blue": "conflict"}
    assert fork.graph("refs/stackmerge/deploy/heads/red/" + fork.git("rev-parse", "red")[:12], "v1") == (
        "* red\n    M a\n"
    )
