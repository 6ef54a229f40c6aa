"""A step's change arrived upstream as one squashed commit, which is no ancestor of anything we merge."""

from __future__ import annotations

import pytest

from tests.sandbox import Sandbox
from tests.stories.steps import manifest, nine, outcomes, rebuild


def stack_of_red_and_blue(fork: Sandbox) -> None:
    """red has two commits; blue touches another file."""
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red 1")
    fork.branch("red", "red", {"a": nine(l1="red", l5="red"), "red.txt": "red\n"}, "red 2")
    fork.branch("blue", "v1", {"b": "blue\n"}, "blue")
    fork.manifest(manifest("red", "blue"))
    rebuild(fork)


def squash_red(fork: Sandbox) -> str:
    fork.commit({"c": "c\n"}, "other")
    return fork.commit({"a": nine(l1="red", l5="red"), "red.txt": "red\n"}, "Paint it red (#7)")


def test_a_squashed_head_is_left_out(fork: Sandbox) -> None:
    stack_of_red_and_blue(fork)
    squash = squash_red(fork)
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "landed", "blue": "clean"}
    assert moved["steps"][0]["landed"] == f"squashed as {squash[:12]}"
    assert fork.graph("deploy", "v2") == "* Merge blue <- blue\n    A b\n"


def test_also_when_upstream_changed_the_same_lines_again(fork: Sandbox) -> None:
    stack_of_red_and_blue(fork)
    squash_red(fork)
    fork.commit({"a": nine(l1="crimson", l5="red")}, "crimson is better")
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "landed", "blue": "clean"}
    assert fork.show("deploy", "a") == fork.show("v2", "a")
    assert fork.graph("deploy", "v2") == "* Merge blue <- blue\n    A b\n"


def test_a_squash_that_was_reverted_has_not_landed(fork: Sandbox) -> None:
    stack_of_red_and_blue(fork)
    squash = squash_red(fork)
    fork.clock += 60
    fork.git("revert", "--no-edit", squash)
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "clean"}
    assert fork.show("deploy", "a") == nine(l1="red", l5="red").rstrip("\n")
    assert fork.graph("deploy", "v2") == (
        "* Merge red <- red 2\n    M a\n    A red.txt\n* Merge blue <- blue\n    A b\n"
    )


def test_a_squash_that_was_reverted_and_applied_again_has_landed(fork: Sandbox) -> None:
    stack_of_red_and_blue(fork)
    squash = squash_red(fork)
    fork.clock += 60
    fork.git("revert", "--no-edit", squash)
    fork.clock += 60
    fork.git("revert", "--no-edit", "HEAD")
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "landed", "blue": "clean"}
    assert fork.graph("deploy", "v2") == "* Merge blue <- blue\n    A b\n"


def test_a_later_head_built_on_the_squashed_one_brings_only_its_own(fork: Sandbox) -> None:
    """With the old merge base git would merge red once more, into lines that upstream changed since."""
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.branch("blue", "red", {"a": nine(l1="red", l9="blue"), "b": "blue\n"}, "blue on red")
    fork.manifest(manifest("red", "blue"))
    rebuild(fork)
    fork.commit({"a": nine(l1="red")}, "Paint it red (#7)")
    fork.commit({"a": nine(l1="crimson")}, "crimson is better")
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "landed", "blue": "clean"}
    assert fork.show("deploy", "a") == nine(l1="crimson", l9="blue").rstrip("\n")
    assert fork.git("rev-parse", "deploy^1", "deploy^2") == fork.git("rev-parse", "v2", "blue")
    assert fork.graph("deploy", "v2") == "* Merge blue <- blue on red\n    M a\n    A b\n"


def test_it_stays_landed_on_the_bases_after(fork: Sandbox) -> None:
    """The next rebuild begins at a base that has the squash already; red must not come back over crimson."""
    stack_of_red_and_blue(fork)
    squash_red(fork)
    fork.git("tag", "v2")
    rebuild(fork, "--onto", "v2")
    fork.commit({"a": nine(l1="crimson", l5="red")}, "crimson is better")
    fork.git("tag", "v3")

    again = rebuild(fork, "--fresh")
    assert outcomes(again) == {"red": "landed", "blue": "clean"}
    moved = rebuild(fork, "--onto", "v3")
    assert outcomes(moved) == {"red": "landed", "blue": "clean"}
    assert fork.show("deploy", "a") == fork.show("v3", "a")
    assert fork.graph("deploy", "v3") == "* Merge blue <- blue\n    A b\n"


def test_a_head_that_landed_before_the_first_rebuild_is_left_out_too(fork: Sandbox) -> None:
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red", l5="red"), "red.txt": "red\n"}, "red")
    squash_red(fork)
    fork.commit({"a": nine(l1="crimson", l5="red")}, "Make it crimson")
    fork.git("tag", "v2")
    fork.branch("blue", "v2", {"b": "blue\n"}, "blue")
    fork.manifest(manifest("red", "blue").replace("base: v1", "base: v2"))

    first = rebuild(fork)
    assert outcomes(first) == {"red": "landed", "blue": "clean"}
    assert fork.show("deploy", "a").startswith("crimson\n")


def test_a_change_that_differs_in_white_space_has_not_landed(fork: Sandbox) -> None:
    """In Python it says something else, and git merges it as a conflict."""
    before = "def f(a):\n    if a:\n        g()\n    h()\n"
    fork.commit({"w.py": before}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"w.py": before.replace("    h", "        i()\n    h")}, "i where a")
    fork.manifest(manifest("red"))
    rebuild(fork)
    fork.commit({"w.py": before.replace("    h", "    i()\n    h")}, "i always")
    fork.git("tag", "v2")
    assert outcomes(rebuild(fork, "--onto", "v2", code=3)) == {"red": "conflict"}


@pytest.mark.parametrize("attributes", ["", "*.lock -diff\n"])
def test_another_change_of_a_binary_file_is_no_landing(fork: Sandbox, attributes: str) -> None:
    """Its lines cannot be compared, so what counts are the very contents."""
    zero = "" if attributes else "\0"
    fork.commit({"a.lock": nine() + zero, ".gitattributes": attributes or "# none\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a.lock": nine(l1="red") + zero}, "red")
    fork.manifest(manifest("red"))
    rebuild(fork)
    fork.commit({"a.lock": nine(l9="other") + zero}, "other")
    fork.git("tag", "v2")
    moved = rebuild(fork, "--onto", "v2", code=0 if attributes else 3)
    assert outcomes(moved) == {"red": "clean" if attributes else "conflict"}
    if not attributes:
        assert fork.stackmerge("abort").code == 0
    fork.git("checkout", "-q", "-B", "again", "v1")
    squash = fork.commit({"a.lock": nine(l1="red") + zero}, "red (#7)")
    landed = rebuild(fork, "--onto", "again")
    assert landed["steps"][0]["landed"] == f"squashed as {squash[:12]}"
    fork.commit({"a.lock": nine() + zero}, "revert it")
    assert outcomes(rebuild(fork, "--onto", "again")) == {"red": "clean"}
