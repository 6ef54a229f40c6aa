"""A step that a gate fails on is mended, or taken as it is: what a person did there is neither lost nor in the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.gate.test_gating import shell, stack
from tests.sandbox import Sandbox

NO_TWO = {"name": "no-two", "run": shell("test ! -f two.txt || grep -q mended two.txt")}


def stopped(fork: Sandbox, *options: str) -> Any:
    """A rebuild that a gate stops."""
    ran = fork.stackmerge("rebuild", *options, "--json")
    assert ran.code == 5, ran.err
    return ran.json


def test_a_failure_is_not_taken_over_what_was_changed_there(fork: Sandbox) -> None:
    stack(fork, [NO_TWO], ("one", "two"))
    tree = Path(stopped(fork)["worktree"])
    (tree / "new.txt").write_text("new\n")
    refused = fork.stackmerge("continue", "--accept-failure", "known")
    assert refused.code == 1
    assert refused.err.startswith(f"error: --accept-failure takes two as it failed, and {tree} has changes\n")
    assert fork.stackmerge("rebuild").code == 1
    assert (tree / "new.txt").exists()

    (tree / "new.txt").unlink()
    taken = fork.stackmerge("continue", "--accept-failure", "known")
    assert taken.code == 0, taken.err
