"""Attributes are the merged tree's: without a work tree, each must act as it does in `git merge`."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import NINE, go_on, manifest, merged_by_git, nine, outcomes, rebuild, resolve, used

GOLDEN = "* Merge red <- red\n    M a\n* Merge blue <- blue\n    M a\n"


def two_heads(fork: Sandbox, attributes: str, red: str, blue: str, base: str = NINE) -> None:
    """red and blue change file ``a``, which has ``attributes`` on every side."""
    files: dict[str, str | bytes | None] = {"a": base, "b": "b\n"}
    fork.commit(files | ({".gitattributes": f"a {attributes}\n"} if attributes else {}), "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": red}, "red")
    fork.branch("blue", "v1", {"a": blue}, "blue")
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "blue"))


def test_union_takes_the_lines_of_both(fork: Sandbox) -> None:
    two_heads(fork, "merge=union", nine(l9="9\nred"), nine(l9="9\nblue"))

    done = rebuild(fork)
    assert outcomes(done) == {"red": "clean", "blue": "clean"}
    assert done["tree"] == merged_by_git(fork, "deploy^1", "blue")
    assert fork.show("deploy", "a") == nine(l9="9\nred\nblue").rstrip("\n")
    assert fork.graph("deploy", "v1") == GOLDEN


def test_an_attribute_that_an_earlier_step_brings_counts(fork: Sandbox) -> None:
    two_heads(fork, "", nine(l9="9\nred"), nine(l9="9\nblue"))
    fork.branch("red", "red", {".gitattributes": "a merge=union\n"}, "red, with attributes")

    done = rebuild(fork)
    assert outcomes(done) == {"red": "clean", "blue": "clean"}
    assert done["tree"] == merged_by_git(fork, "deploy^1", "blue")
    assert fork.graph("deploy", "v1") == (
        "* Merge red <- red, with attributes\n    A .gitattributes\n    M a\n* Merge blue <- blue\n    M a\n"
    )


def test_a_file_that_must_not_be_merged_has_an_exact_answer(fork: Sandbox) -> None:
    """With `-merge`, changes of two far lines conflict and our side is left in the file."""
    two_heads(fork, "-merge", nine(l1="red"), nine(l9="blue"))

    stopped = rebuild(fork, code=3)
    assert outcomes(stopped) == {"red": "clean", "blue": "conflict"}
    assert (Path(stopped["worktree"]) / "a").read_text() == nine(l1="red")
    resolve(fork, stopped, {"a": nine(l1="red", l9="blue")})
    go_on(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "replayed"}
    assert used(moved, "blue") == [("exact", "a")]
    assert fork.show("deploy", "a") == nine(l1="red", l9="blue").rstrip("\n")
    assert fork.graph("deploy", "v2") == GOLDEN


def test_line_ends_are_those_of_a_checkout_in_the_conflict_and_of_the_blob_in_the_result(
    fork: Sandbox,
) -> None:
    two_heads(fork, "text eol=crlf", nine(l1="red"), nine(l1="blue"))

    stopped = rebuild(fork, code=3)
    conflict = (Path(stopped["worktree"]) / "a").read_bytes()
    assert conflict.count(b"\r\n") == conflict.count(b"\n") == 13
    resolve(fork, stopped, {"a": nine(l1="purple").replace("\n", "\r\n")})
    go_on(fork)
    assert fork.show("deploy", "a") == nine(l1="purple").rstrip("\n")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "replayed"}
    assert fork.show("deploy", "a") == nine(l1="purple").rstrip("\n")
    assert fork.graph("deploy", "v2") == GOLDEN


def test_the_id_of_a_conflict_with_crlf_is_git_reres(fork: Sandbox) -> None:
    """git hashes the bytes of the work tree, with CRLF; so must we."""
    two_heads(fork, "text eol=crlf", nine(l1="red"), nine(l1="blue"))
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple").replace("\n", "\r\n")})
    done = go_on(fork)
    [resolution] = done["steps"][1]["resolutions"]

    fork.git("checkout", "-q", "--detach", "red")
    fork.git("-c", "rerere.enabled=true", "merge", "-q", "blue", check=False)
    assert [child.name for child in (fork.path / ".git/rr-cache").iterdir()] == [resolution["id"]]
    fork.git("reset", "-q", "--hard")
    fork.git("checkout", "-q", "main")
    assert fork.graph("deploy", "v1") == GOLDEN


def test_long_markers_leave_a_text_about_markers_alone(fork: Sandbox) -> None:
    about = "<<<<<<< this is what ours looks like\nTitle\n=======\n>>>>>>> and theirs\n"
    two_heads(
        fork, "conflict-marker-size=12", nine(l1="red") + about, nine(l1="blue") + about, nine() + about
    )

    stopped = rebuild(fork, code=3)
    lines = (Path(stopped["worktree"]) / "a").read_text().splitlines()
    assert lines[0].startswith("<" * 12 + " ")
    assert "=" * 12 in lines
    resolve(fork, stopped, {"a": "<" * 12 + " \n"})
    refused = fork.stackmerge("continue")
    assert refused.err.startswith("error: a still holds conflict markers\n")
    resolve(fork, stopped, {"a": nine(l1="purple") + about})
    go_on(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "replayed"}
    assert fork.show("deploy", "a") == (nine(l1="purple") + about).rstrip("\n")
    assert fork.graph("deploy", "v2") == GOLDEN


def test_a_custom_merge_driver_runs(fork: Sandbox) -> None:
    """The driver of the repository's configuration writes its own result over our side (%A)."""
    fork.git("config", "merge.both.driver", "cat %B | tail -n 1 >> %A")
    two_heads(fork, "merge=both", nine(l1="red"), nine(l1="blue", l9="last of blue"))

    done = rebuild(fork)
    assert outcomes(done) == {"red": "clean", "blue": "clean"}
    assert done["tree"] == merged_by_git(fork, "deploy^1", "blue")
    assert fork.show("deploy", "a") == nine(l1="red") + "last of blue"
    assert fork.graph("deploy", "v1") == GOLDEN


def test_a_driver_that_leaves_markers_has_its_conflict_replayed(fork: Sandbox) -> None:
    fork.git("config", "merge.always.driver", "git merge-file -L a -L o -L b %A %O %B")
    two_heads(fork, "merge=always", nine(l1="red"), nine(l1="blue"))
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple")})
    go_on(fork)
    fork.git("checkout", "-q", "-B", "third", "v2")
    fork.commit({"a": nine(l9="NINE")}, "three")
    fork.git("checkout", "-q", "main")

    moved = rebuild(fork, "--onto", "third")
    assert outcomes(moved) == {"red": "clean", "blue": "replayed"}
    assert fork.show("deploy", "a") == nine(l1="purple", l9="NINE").rstrip("\n")
    assert fork.graph("deploy", "third") == GOLDEN
