"""Two heads change a binary file, which has no markers and which git's rerere never records."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, outcomes, rebuild, resolve, used

PURPLE = b"\0purple\xff\r\n"


def test_an_exact_answer_replays(fork: Sandbox) -> None:
    fork.commit({"logo": b"\0one\xff", "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"logo": b"\0red\xff"}, "red")
    fork.branch("blue", "v1", {"logo": b"\0blue\xff"}, "blue")
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "blue"))

    stopped = rebuild(fork, code=3)
    [conflict] = stopped["steps"][1]["conflicts"]
    assert (conflict["path"], conflict["kind"]) == ("logo", "binary")
    resolve(fork, stopped, {"logo": PURPLE})
    go_on(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "replayed"}
    assert used(moved, "blue") == [("exact", "logo")]
    assert fork.git("rev-parse", "deploy:logo") == fork.git("hash-object", "--stdin", stdin=PURPLE)
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    M logo\n* Merge blue <- blue\n    M logo\n"


def test_a_change_by_one_side_only_is_no_conflict(fork: Sandbox) -> None:
    fork.commit({"logo": b"\0one\xff", "a": b"\0a"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"logo": b"\0red\xff"}, "red")
    fork.commit({"a": b"\0aa"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red"))
    rebuild(fork)

    assert outcomes(rebuild(fork, "--onto", "v2")) == {"red": "clean"}
    assert fork.git("diff", "--name-only", "v2", "deploy") == "logo"
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    M logo\n"
