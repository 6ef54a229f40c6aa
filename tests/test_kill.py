"""Killed at any moment, a rebuild that goes on ends in the same commits; and two cannot run at once."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from filelock import FileLock

from stackmerge.repository import Repository
from stackmerge.stack import open_stack
from tests import chain
from tests.chain import State
from tests.sandbox import Sandbox
from tests.untouched import untouched

KILLS = 10


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    fork = Sandbox(tmp_path_factory.mktemp("chain"))
    chain.generate(fork)
    return fork


@pytest.fixture(scope="module")
def undisturbed(stack: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> tuple[State, float]:
    """What a rebuild leaves that nobody kills, and how long it took."""
    copy = chain.copied(stack, tmp_path_factory.mktemp("copies") / "undisturbed")
    began = time.monotonic()
    ran = copy.stackmerge("rebuild", "--onto", "v2", "--fresh", "--json")
    took = time.monotonic() - began
    assert ran.code == 0, ran.err
    outcomes = [step["outcome"] for step in ran.json["steps"]]
    assert outcomes.count("replayed") == chain.STEPS // 3 - 1
    return chain.state(copy), took


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_rebuild_goes_on_to_the_same_commits(
    stack: Sandbox, undisturbed: tuple[State, float], tmp_path: Path, number: int
) -> None:
    expected, took = undisturbed
    share = (number + random.Random(number).random()) / KILLS
    copy = chain.copied(stack, tmp_path / "copy")
    before = copy.git("rev-parse", "deploy")
    if chain.killed(copy, share * took):
        assert copy.git("rev-parse", "deploy") in (before, expected.branches.split()[1])
    assert chain.go_on(copy) == ""
    assert chain.state(copy) == expected
    assert copy.git("fsck", "--no-dangling", "--connectivity-only") == ""


def test_two_rebuilds_at_once(stack: Sandbox) -> None:
    """While another command holds the stack, everything that would change it is refused."""
    commands = (["rebuild"], ["continue"], ["abort"], ["accept"], ["undo"], ["update"])
    with FileLock(stack.path / ".git/stackmerge/deploy/lock"), untouched(stack):
        for command in commands:
            refused = stack.stackmerge(*command)
            assert refused.code == 1
            assert refused.err == (
                "error: another stackmerge command is working on the stack 'deploy'\n"
                "hint: `stackmerge status` shows a rebuild at work; wait for it to end, or stop it\n"
            )
        assert stack.stackmerge("status").code == 0
        assert stack.stackmerge("plan").code == 0


def test_the_lock_of_a_killed_rebuild_holds_nobody(stack: Sandbox, tmp_path: Path) -> None:
    copy = chain.copied(stack, tmp_path / "copy")
    assert (copy.path / ".git/stackmerge/deploy/lock").exists()
    assert copy.stackmerge("rebuild", "--onto", "v2").code == 0


@pytest.mark.parametrize("ref", ["journal", "candidate"])
def test_a_ref_lock_that_a_killed_rebuild_left(stack: Sandbox, tmp_path: Path, ref: str) -> None:
    """Killed while it wrote a ref of its own, it leaves `<ref>.lock`, which nobody else can have made."""
    copy = chain.copied(stack, tmp_path / "copy")
    left = copy.path / f".git/refs/stackmerge/deploy/{ref}.lock"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text("")
    ran = copy.stackmerge("rebuild", "--onto", "v2")
    assert ran.code == 0, ran.err
    assert not left.exists()


def killed_in_the_transaction(fork: Sandbox) -> str:
    """A stack whose rebuild ended while its branches moved; the tip that they should move to."""
    fork.commit({"a": "1\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"b": "red\n"}, "red")
    fork.git("checkout", "-q", "-b", "deploy")
    fork.manifest("stack: deploy\nbase: v1\nsteps:\n- name: red\n  merge: red\n")
    tip = fork.stackmerge("rebuild", "--json").json["tip"]
    fork.git("checkout", "-q", "main")
    fork.git("branch", "-q", "-D", "deploy")
    with Repository(fork.path) as repository:
        open_stack(repository, fork.path / "stackmerge.yaml").journal.note("accepting")
    return str(tip)


@pytest.mark.parametrize("held", ["", "the new value"])
def test_a_lock_that_our_killed_transaction_left_stops_nobody(fork: Sandbox, held: str) -> None:
    tip = killed_in_the_transaction(fork)
    (fork.path / ".git/refs/heads/deploy.lock").write_text(f"{tip}\n" if held else "")
    ran = fork.stackmerge("continue")
    assert ran.code == 0, ran.err
    assert fork.git("rev-parse", "deploy") == tip


def test_somebody_elses_lock_is_left_alone(fork: Sandbox) -> None:
    killed_in_the_transaction(fork)
    lock = fork.path / ".git/refs/heads/deploy.lock"
    lock.write_text(f"{fork.git('rev-parse', 'main')}\n")
    ran = fork.stackmerge("continue")
    assert ran.code == 1
    assert "no ref was moved" in ran.err
    assert lock.exists()
