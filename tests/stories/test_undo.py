"""undo goes back to the state before, and undo of undo forward again: branches, lock and all."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import branches, manifest, rebuild, two_bases


def test_back_and_forth(fork: Sandbox) -> None:
    two_bases(fork, "red", "blue")
    lock = fork.path / "stackmerge.lock"
    fork.manifest(manifest("red", prefix="d/"))
    rebuild(fork)
    first = branches(fork), lock.read_text()

    lonely = fork.stackmerge("undo")
    assert lonely.code == 1
    assert lonely.err.startswith("error: there is no earlier state to go back to\n")

    fork.manifest(manifest("red", "blue", prefix="d/"))
    rebuild(fork, "--onto", "v2")
    second = branches(fork), lock.read_text()

    assert fork.stackmerge("undo").code == 0
    assert (branches(fork), lock.read_text()) == first
    assert fork.graph("deploy", "v1") == "* Merge red <- red\n    A red\n"
    assert fork.stackmerge("undo").code == 0
    assert (branches(fork), lock.read_text()) == second
    assert fork.stackmerge("undo", "1").code == 0
    assert (branches(fork), lock.read_text()) == first

    states = fork.stackmerge("undo", "--list", "--json").json["states"]
    assert [(state["number"], state["current"], state["again"]) for state in states] == [
        (1, False, 0), (2, False, 0), (3, False, 1), (4, False, 2), (5, True, 1),
    ]  # fmt: skip
    listed = fork.stackmerge("undo", "--list").out.splitlines()
    assert [line.partition("  undo: ")[2] for line in listed] == [
        "", "", "state 1 again", "state 2 again", "state 1 again",
    ]  # fmt: skip
    nowhere = fork.stackmerge("undo", "17")
    assert nowhere.code == 2
    assert nowhere.err.startswith("error: there is no state 17\n")

    rebuild(fork, "--onto", "v2")
    assert (branches(fork), lock.read_text()) == second
    assert fork.graph("deploy", "v2") == "* Merge red <- red\n    A red\n* Merge blue <- blue\n    A blue\n"


def test_a_rebuild_that_changes_nothing_is_no_state_to_go_back_to(fork: Sandbox) -> None:
    two_bases(fork, "red")
    fork.manifest(manifest("red"))
    first = rebuild(fork)
    rebuild(fork, "--onto", "v2")
    rebuild(fork)
    rebuild(fork, "--fresh")

    assert len(fork.stackmerge("undo", "--list", "--json").json["states"]) == 2
    assert fork.stackmerge("undo").code == 0
    assert fork.git("rev-parse", "deploy") == first["tip"]
    assert fork.graph("deploy", "v1") == "* Merge red <- red\n    A red\n"


def test_a_lock_that_is_damaged_or_gone_is_written_anew(fork: Sandbox) -> None:
    two_bases(fork, "red")
    lock = fork.path / "stackmerge.lock"
    fork.manifest(manifest("red"))
    for states, onto in enumerate(("v1", "v2"), 1):
        rebuild(fork, "--onto", onto)
        before = branches(fork), lock.read_text()
        lock.write_text("{")
        damaged = fork.stackmerge("undo", "--list")
        assert damaged.code == 2
        assert damaged.err == (
            "error: stackmerge.lock is damaged\n"
            "hint: restore it from git; or delete it, and `stackmerge undo N`, with the state that "
            "`undo --list` marks `*`, writes it anew\n"
        )
        lock.unlink()
        [marked] = [line for line in fork.stackmerge("undo", "--list").out.splitlines() if line[0] == "*"]
        assert fork.stackmerge("undo", marked.split()[1]).code == 0
        assert (branches(fork), lock.read_text()) == before
        assert len(fork.stackmerge("undo", "--list", "--json").json["states"]) == states
    assert rebuild(fork)["base"] == fork.git("rev-parse", "v2")
