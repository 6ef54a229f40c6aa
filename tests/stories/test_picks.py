"""Plain commits of a stack are picks: their author, message and dates stay; a conflict stops like a merge's."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, rebuild, resolve

PICKS = "stack: deploy\nbase: v1\nsteps:\n- name: red\n  merge: red\n- name: tweak\n  pick: tweak\n"


def test_a_pick_moves_with_its_author_and_date(fork: Sandbox) -> None:
    fork.commit({"a": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.git("checkout", "-q", "-b", "deploy", "v1")
    fork.git("merge", "-q", "--no-ff", "-m", "Merge branch 'red'", "red")
    fork.git("config", "user.name", "Bob")
    tweak = fork.commit({"a": nine(l1="red", l5="tweaked")}, "tweak\n\nBecause.")
    fork.git("config", "--unset", "user.name")
    fork.git("checkout", "-q", "main")
    assert fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy").code == 0
    same = rebuild(fork, "--fresh")
    assert (same["tip"], outcomes(same)) == (tweak, {"red": "clean", "tweak": "clean"})
    fork.clock += 6000
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "tweak": "clean"}
    for field in ("%an <%ae> %ad", "%B"):
        assert fork.git("log", "-1", f"--format={field}", "deploy") == fork.git(
            "log", "-1", f"--format={field}", tweak
        )
    assert fork.git("log", "-1", "--format=%ct", "deploy") == fork.git("log", "-1", "--format=%ct", "v2")
    assert fork.graph("deploy", "v2") == "* Merge branch 'red' <- red\n    M a\n* tweak\n    M a\n"


def test_a_pick_that_conflicts_is_resolved_and_replays(fork: Sandbox) -> None:
    fork.commit({"a": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.branch("tweak", "v1", {"a": nine(l1="tweak")}, "tweak")
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(PICKS)

    stopped = rebuild(fork, code=3)
    tree = Path(stopped["worktree"])
    assert fork.git("rev-parse", "CHERRY_PICK_HEAD", cwd=tree) == fork.git("rev-parse", "tweak")
    resolve(fork, stopped, {"a": nine(l1="both")})
    go_on(fork)
    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "tweak": "replayed"}
    assert len(fork.git("log", "-1", "--format=%P", "deploy").split()) == 1
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    M a\n* tweak\n    M a\n"


def test_a_pick_that_upstream_took_has_landed(fork: Sandbox) -> None:
    fork.commit({"a": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"b": "red\n"}, "red")
    fork.branch("tweak", "v1", {"a": nine(l1="tweak")}, "tweak")
    fork.manifest(PICKS)
    rebuild(fork)
    fork.commit({"c": "c\n"}, "two")
    fork.git("cherry-pick", "tweak")
    taken = fork.git("rev-parse", "HEAD")
    fork.commit({"a": nine(l1="upstream's own")}, "three")
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "tweak": "landed"}
    assert moved["steps"][1]["landed"] == f"as {taken[:12]}"
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    M b\n"


def test_a_merge_cannot_be_picked(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"b": "b\n"}, "red")
    fork.git("merge", "-q", "--no-ff", "-m", "merged", "red")
    fork.git("branch", "tweak")
    fork.manifest(PICKS)

    refused = fork.stackmerge("rebuild")
    assert refused.code == 2
    assert refused.err.startswith("error: stackmerge.yaml:6: 'tweak' is a merge, which cannot be picked\n")
    fork.manifest(manifest("red"))
    rebuild(fork)
    assert fork.graph("deploy", "v1") == "* Merge red <- red\n    A b\n"
