"""One side deletes a file that the other modifies: rerere never replays that, an exact answer or a policy does."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, reason, rebuild, resolve, used

OLD_IS_DELETED = "- paths: [old/**]\n  on: modify/delete\n  take: delete\n"


def drop_and_red(fork: Sandbox, policies: str = "") -> None:
    """drop deletes the file that red modifies."""
    fork.commit({"old/f": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("drop", "v1", {"old/f": None}, "drop it")
    fork.branch("red", "v1", {"old/f": nine(l1="red"), "red.txt": "red\n"}, "red")
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("drop", "red", policies=policies))


def test_an_exact_answer_replays_on_the_next_base(fork: Sandbox) -> None:
    drop_and_red(fork)
    stopped = rebuild(fork, code=3)
    [conflict] = stopped["steps"][1]["conflicts"]
    assert (conflict["path"], conflict["kind"], conflict["where"]) == ("old/f", "modify/delete", "drop")
    assert reason(stopped, "red") == "nothing is recorded for this conflict"
    shown = fork.stackmerge("status").err
    assert "    red conflicts with the step drop below it, not with upstream alone\n" in shown
    assert "`git add` or `git rm` the files there, then run `stackmerge continue`" in shown
    early = fork.stackmerge("continue")
    assert early.code == 1
    assert "`git add` or `git rm` them, then `continue`" in early.err
    resolve(fork, stopped, {"old/f": None})
    go_on(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"drop": "clean", "red": "replayed"}
    assert used(moved, "red") == [("exact", "old/f")]
    assert fork.graph("deploy", "v2") == (
        "* Merge drop <- drop it\n    D old/f\n* Merge red <- red\n    A red.txt\n"
    )


def test_it_is_carried_over_a_change_elsewhere_in_the_file(fork: Sandbox) -> None:
    """Both heads are rebased over a change of line 9: other blobs, the same question, the same answer."""
    drop_and_red(fork)
    resolve(fork, rebuild(fork, code=3), {"old/f": None})
    go_on(fork)
    fork.commit({"old/f": nine(l9="NINE")}, "three")
    fork.git("tag", "v3")
    fork.branch("drop", "v3", {"old/f": None}, "drop it")
    fork.branch("red", "v3", {"old/f": nine(l1="red", l9="NINE"), "red.txt": "red\n"}, "red")
    assert fork.stackmerge("update").code == 0

    moved = rebuild(fork, "--onto", "v3")
    assert outcomes(moved) == {"drop": "clean", "red": "replayed"}
    assert fork.graph("deploy", "v3") == (
        "* Merge drop <- drop it\n    D old/f\n* Merge red <- red\n    A red.txt\n"
    )


def test_it_is_not_carried_to_another_change(fork: Sandbox) -> None:
    drop_and_red(fork)
    resolve(fork, rebuild(fork, code=3), {"old/f": None})
    go_on(fork)
    fork.branch("red", "v2", {"old/f": nine(l1="red", l2="and more")}, "red, and more")
    assert fork.stackmerge("update").code == 0

    stopped = rebuild(fork, "--onto", "v2", code=3)
    assert reason(stopped, "red") == "the recorded answer was to other content"
    resolve(fork, stopped, {"old/f": nine(l1="red", l2="and more")})
    go_on(fork)
    assert fork.graph("deploy", "v2") == (
        "* Merge drop <- drop it\n    D old/f\n* Merge red <- red, and more\n    A old/f\n"
    )


def test_a_policy_answers_in_its_paths_only(fork: Sandbox) -> None:
    drop_and_red(fork, policies=OLD_IS_DELETED)
    done = rebuild(fork)
    assert outcomes(done) == {"drop": "clean", "red": "replayed"}
    assert used(done, "red") == [("policy", "old/f")]

    fork.manifest(manifest("drop", "red", policies=OLD_IS_DELETED.replace("old/**", "other/**")))
    assert outcomes(rebuild(fork, code=3)) == {"drop": "clean", "red": "conflict"}
    assert fork.graph("deploy", "v1") == (
        "* Merge drop <- drop it\n    D old/f\n* Merge red <- red\n    A red.txt\n"
    )
