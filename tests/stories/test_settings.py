"""Odd settings and odd objects: the private work tree is whole, results are not stale, ids are git's."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, rebuild, resolve, used


def conflicting(fork: Sandbox, path: str = "out/f", policies: str = "") -> None:
    """The head red changes a line that upstream has changed as well."""
    fork.commit({path: nine(), "in/a": "a\n"}, "one")
    fork.git("tag", "v0")
    fork.branch("red", "v0", {path: nine(l5="red"), "red": "red\n"}, "red")
    fork.commit({path: nine(l5="ours")}, "two")
    fork.git("tag", "v1")
    fork.manifest(manifest("red", policies=policies))


def test_a_sparse_checkout_does_not_hide_the_conflict(fork: Sandbox) -> None:
    conflicting(fork)
    fork.git("sparse-checkout", "set", "in")
    before = (fork.path / ".git/config").read_text(), (fork.path / ".git/config.worktree").read_text()
    stopped = rebuild(fork, code=3)
    resolve(fork, stopped, {"out/f": nine(l5="both")})
    assert sorted(p.name for p in Path(stopped["worktree"]).iterdir()) == [".git", "in", "out", "red"]
    assert outcomes(go_on(fork)) == {"red": "replayed"}
    assert fork.show("deploy", "out/f") == nine(l5="both").rstrip("\n")
    after = (fork.path / ".git/config").read_text(), (fork.path / ".git/config.worktree").read_text()
    assert after == before
    assert not (fork.path / "out").exists()


def test_submodules_that_are_updated_by_themselves(fork: Sandbox, tmp_path: Path) -> None:
    library = Sandbox(tmp_path, "library")
    library.commit({"s": "s\n"}, "one")
    allowed = ("-c", "protocol.file.allow=always")
    fork.git(*allowed, "submodule", "--quiet", "add", str(library.path), "sub")
    fork.git("commit", "-q", "-m", "sub")
    conflicting(fork)
    fork.git("config", "submodule.recurse", "true")
    stopped = rebuild(fork, code=3)
    resolve(fork, stopped, {"out/f": nine(l5="both")})
    assert outcomes(go_on(fork)) == {"red": "replayed"}
    assert fork.git("ls-tree", "deploy", "sub") == fork.git("ls-tree", "v1", "sub")


def test_attributes_of_the_repository_make_a_result_old(fork: Sandbox) -> None:
    conflicting(fork, policies="- {paths: ['out/*'], on: [content], take: ours}\n")
    assert used(rebuild(fork), "red") == [("policy", "out/f")]
    again = rebuild(fork)
    assert [step["reused"] for step in again["steps"]] == [True]
    (fork.path / ".git/info/attributes").write_text("out/f merge=union\n")
    union = rebuild(fork, code=6)  # nothing of the stack explains it
    assert (used(union, "red"), outcomes(union)) == ([], {"red": "clean"})
    assert fork.stackmerge("accept", "--unproven", "wanted").code == 0
    (fork.path / ".git/info/attributes").unlink()
    back = rebuild(fork)  # as it was accepted on this base before
    assert (back["tree"], back["proof"]["counts"]) == (again["tree"], {})


def test_an_answer_that_comes_before_a_policy_makes_a_result_old(fork: Sandbox) -> None:
    conflicting(fork, policies="- {paths: ['out/*'], on: [content], take: ours}\n")
    assert used(rebuild(fork), "red") == [("policy", "out/f")]
    fork.git("config", "rerere.enabled", "true")
    fork.git("checkout", "-q", "--detach", "v1")
    fork.git("merge", "-q", "red", check=False)
    fork.write({"out/f": nine(l5="both")})
    fork.git("commit", "-q", "-m", "merged")
    fork.git("checkout", "-q", "main")
    assert fork.stackmerge("rerere", "import").code == 0
    answered = rebuild(fork, code=6)
    assert used(answered, "red") == [("text", "out/f")]
    assert fork.show(answered["tip"], "out/f") == nine(l5="both").rstrip("\n")


def test_a_conflict_has_the_id_that_rerere_gives_it_where_the_merge_brings_attributes(fork: Sandbox) -> None:
    """git writes the conflict with the line ends that the merged tree asks for, and then hashes it."""
    fork.commit({"f.txt": nine()}, "one")
    fork.git("tag", "v0")
    fork.branch("red", "v0", {"f.txt": nine(l5="red"), ".gitattributes": "*.txt eol=crlf\n"}, "red")
    fork.write({"f.txt": nine(l5="ours")})
    fork.git("commit", "-q", "-m", "two")
    fork.git("tag", "v1")
    fork.git("config", "rerere.enabled", "true")
    fork.git("checkout", "-q", "--detach", "v1")
    fork.git("merge", "-q", "red", check=False)
    [by_git] = [entry.name for entry in (fork.path / ".git/rr-cache").iterdir()]
    fork.git("reset", "-q", "--hard")
    fork.git("checkout", "-q", "-f", "main")
    fork.manifest(manifest("red"))
    stopped = rebuild(fork, code=3)
    assert stopped["steps"][0]["conflicts"][0]["reason"] == f"no resolution with id {by_git[:12]} is known"


def test_a_branch_moves_below_the_name_that_it_had(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"red": "red\n"}, "red")
    text = manifest("red")
    for branch in ("pr", "pr/red", "pr/red/now", "pr"):
        fork.manifest(text + f"  branch: {branch}\n")
        assert rebuild(fork)["state"] == "accepted"
        assert fork.git("for-each-ref", "--format=%(refname:short)", "refs/heads/pr") == branch


def test_after_keep_going_nothing_waits_for_a_person(fork: Sandbox) -> None:
    conflicting(fork)
    assert outcomes(rebuild(fork, "--keep-going", code=3)) == {"red": "conflict"}
    refused = fork.stackmerge("continue")
    assert refused.code == 1
    assert refused.err == (
        "error: that rebuild went on to its end and left out what conflicts: nothing waits for a person\n"
        "hint: rebuild without --keep-going to resolve it step by step\n"
    )
    assert fork.stackmerge("status", "--json").json["next"] == "stackmerge rebuild"
    assert "rebuild without --keep-going" in fork.stackmerge("accept").err
    assert fork.stackmerge("abort").code == 0
    assert fork.stackmerge("status").err.endswith("given up; nothing has moved\n")
    assert outcomes(rebuild(fork, code=3)) == {"red": "conflict"}


def test_an_empty_base_is_no_base(fork: Sandbox) -> None:
    """As of a variable that is not set."""
    conflicting(fork)
    refused = fork.stackmerge("rebuild", "--onto", "")
    assert refused.code == 2
    assert refused.err.startswith("error: --onto: '' is not a commit that is here\n")


def test_a_branch_in_the_way_of_a_step_s_branch_is_named(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"red": "red\n"}, "red")
    fork.git("branch", "pr/other", "v1")
    fork.manifest(manifest("red") + "  branch: pr\n")
    refused = fork.stackmerge("rebuild")
    assert refused.code == 1
    assert refused.err.endswith(
        "hint: a branch of another name is in the way: rename it, or give the step another `branch`\n"
    )


def test_a_folder_of_any_name_may_hold_attributes(fork: Sandbox) -> None:
    fork.commit({".no-index/.gitattributes": "x text\n"}, "zero")
    conflicting(fork)
    assert outcomes(rebuild(fork, code=3)) == {"red": "conflict"}


def test_odd_marker_sizes_are_read_as_git_reads_them(fork: Sandbox) -> None:
    fork.commit(
        {".gitattributes": "big conflict-marker-size=99999999999999999999\nodd conflict-marker-size=10x\n"},
        "0",
    )
    conflicting(fork, "big")
    assert outcomes(rebuild(fork, code=3)) == {"red": "conflict"}
    assert fork.stackmerge("abort").code == 0
    fork.git("checkout", "-q", "-B", "main", "v0~1")
    fork.git("tag", "-d", "v0", "v1")
    conflicting(fork, "odd")
    stopped = rebuild(fork, code=3)
    assert "<" * 10 + " " in (Path(stopped["worktree"]) / "odd").read_text()
    assert "no resolution with id" in stopped["steps"][0]["conflicts"][0]["reason"]


def test_a_head_without_an_author_date(fork: Sandbox) -> None:
    conflicting(fork)
    raw = fork.git("cat-file", "commit", "red").encode()
    lines = [
        line.partition(b"> ")[0] + b">" if line.startswith(b"author ") else line for line in raw.split(b"\n")
    ]
    odd = fork.git(
        "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=b"\n".join(lines) + b"\n"
    )
    fork.git("update-ref", "refs/heads/odd", odd)
    fork.manifest(manifest("odd"))
    assert outcomes(rebuild(fork, code=3)) == {"odd": "conflict"}


def test_the_tag_of_a_head_goes_when_the_head_changes(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"red": "red\n"}, "red")
    fork.git("tag", "-a", "-m", "release", "release", "red")
    fork.git("checkout", "-q", "-b", "deploy", "v1")
    fork.git("merge", "-q", "--no-ff", "-m", "Merge tag 'release'", "release")
    headers, _, message = fork.git("cat-file", "commit", "deploy").partition("\n\n")
    tag = fork.git("cat-file", "tag", "release").replace("\n", "\n ")
    raw = f"{headers}\nmergetag {tag}\n\n{message}\n".encode()
    fork.git("reset", "-q", "--hard", fork.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw))
    fork.git("checkout", "-q", "main")
    assert fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy").code == 0
    same = fork.git("rev-parse", "deploy")
    assert rebuild(fork, "--fresh")["tip"] == same
    new = fork.branch("red", "red", {"red": "RED\n"}, "red again")
    text = (fork.path / "stackmerge.yaml").read_text()
    (fork.path / "stackmerge.yaml").write_text(text.replace(fork.git("rev-parse", f"{same}^2"), new))
    assert rebuild(fork)["status"] == "complete"
    assert "mergetag " not in fork.git("cat-file", "commit", "deploy")


def test_markers_are_seen_where_the_merge_brings_another_size(fork: Sandbox) -> None:
    """git writes them by the attributes of the tree that is merged into."""
    fork.commit({"f": nine()}, "one")
    fork.git("tag", "v0")
    fork.branch("red", "v0", {"f": nine(l5="red"), ".gitattributes": "f conflict-marker-size=20\n"}, "red")
    fork.commit({"f": nine(l5="ours")}, "two")
    fork.git("tag", "v1")
    fork.manifest(manifest("red"))
    stopped = rebuild(fork, code=3)
    fork.git("add", "f", cwd=Path(stopped["worktree"]))
    refused = fork.stackmerge("continue")
    assert refused.code == 1
    assert refused.err.startswith("error: f still holds conflict markers\n")
    resolve(fork, stopped, {"f": nine(l5="both")})
    assert go_on(fork)["status"] == "complete"


def test_how_a_machine_reaches_a_remote_is_the_user_s_affair(fork: Sandbox, tmp_path: Path) -> None:
    conflicting(fork)
    fork.git("init", "-q", "--bare", str(tmp_path / "shared.git"))
    fork.git("remote", "add", "shared", "work:shared.git")
    fork.environment |= {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{tmp_path}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "work:",
    }
    pushed = fork.stackmerge("rerere", "push", "shared")
    assert pushed.code == 0, pushed.err
    assert fork.stackmerge("rerere", "pull", "shared").code == 0
