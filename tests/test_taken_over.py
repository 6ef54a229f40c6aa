"""Steps that are taken over share one record: an interrupt at any moment neither loses nor doubles them."""

from __future__ import annotations

import itertools
import os
from typing import Any

import pytest

from stackmerge.build import Builder
from stackmerge.errors import StackmergeError
from stackmerge.journal import Journal
from stackmerge.outcome import Options
from stackmerge.rebuild import rebuild as rebuild_stack
from stackmerge.rebuild import resume
from stackmerge.refs import Refs
from stackmerge.repository import Repository
from stackmerge.stack import Stack, open_stack
from tests.sandbox import Sandbox
from tests.stories.steps import manifest, rebuild

NAMES = [f"s{number}" for number in range(1, 7)]


@pytest.fixture
def stack(fork: Sandbox) -> Sandbox:
    """Six steps of which the first four are rebuilt and not accepted, since the branch is somebody else's."""
    base = fork.commit({"a": "a\n"}, "base")
    fork.git("tag", "v1")
    for name in NAMES:
        fork.branch(name, base, {name: f"{name}\n"}, name)
    fork.git("checkout", "-q", "-B", "deploy", "v1")
    fork.manifest(manifest(*NAMES[:4]))
    assert "did not put it" in rebuild(fork)["note"]
    fork.manifest(manifest(*NAMES))
    return fork


def opened(fork: Sandbox, repository: Repository) -> Stack:
    return open_stack(repository, fork.path / "stackmerge.yaml")


def recorded(fork: Sandbox) -> list[str]:
    with Repository(fork.path) as repository:
        run = opened(fork, repository).last_run()
        assert run is not None
        return [step.name for step in run.steps]


def is_whole(fork: Sandbox) -> bool:
    """Does `continue` end in a stack of all six steps?"""
    with Repository(fork.path) as repository:
        found = resume(opened(fork, repository))
    files = fork.git("ls-tree", "--name-only", found.run.tip).split()
    return found.run.status == "complete" and set(NAMES) <= set(files) and recorded(fork) == NAMES


def test_an_interrupted_write_is_not_made_twice(stack: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    set_own, taken_over = Refs.set_own, Journal.taken_over
    interrupted: list[str] = []

    def moved_then_interrupted(self: Refs, ref: str, oid: str) -> None:
        set_own(self, ref, oid)
        if ref.endswith("/journal") and not interrupted:
            interrupted.append(ref)
            raise KeyboardInterrupt

    def watched(self: Journal, records: Any) -> None:
        if records:
            monkeypatch.setattr(Refs, "set_own", moved_then_interrupted)
        taken_over(self, records)

    monkeypatch.setattr(Journal, "taken_over", watched)
    with Repository(stack.path) as repository, pytest.raises(KeyboardInterrupt):
        rebuild_stack(opened(stack, repository), None, Options())
    monkeypatch.undo()
    assert interrupted
    assert recorded(stack) == NAMES[:4]
    assert is_whole(stack)


@pytest.mark.parametrize("first", ["", "s5"])
def test_they_are_recorded_before_the_next_step_is_built(stack: Sandbox, first: str) -> None:
    child = os.fork()
    if not child:  # as if it was killed while it built s5
        Builder.build = lambda *_, **__: os._exit(9)  # type: ignore[method-assign, misc]
        with Repository(stack.path) as repository:
            rebuild_stack(opened(stack, repository), None, Options(first=first))
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert recorded(stack) == NAMES[:4]
    assert is_whole(stack)


def test_an_error_leaves_them_recorded(stack: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise StackmergeError("out of order")

    monkeypatch.setattr(Builder, "build", fails)
    with Repository(stack.path) as repository, pytest.raises(StackmergeError, match="out of order"):
        rebuild_stack(opened(stack, repository), None, Options())
    monkeypatch.undo()
    assert recorded(stack) == NAMES[:4]
    assert is_whole(stack)


def test_a_journal_that_holds_a_step_twice_is_refused(stack: Sandbox) -> None:
    with Repository(stack.path) as repository:
        one = opened(stack, repository)
        run = one.last_run()
        assert run is not None
        one.journal.resume()
        one.journal.taken_over(run.steps[:2])
        with pytest.raises(StackmergeError, match="does not hold each step once"):
            resume(one)


def test_they_are_one_record(stack: Sandbox) -> None:
    rebuild(stack)
    before = stack.git("rev-list", "--count", "--first-parent", "v1..refs/stackmerge/deploy/journal")
    rebuild(stack)
    again = stack.git("rev-list", "--count", "--first-parent", "v1..refs/stackmerge/deploy/journal")
    assert int(before) == len(["start", "four steps", "s5", "s6", "end"])
    assert int(again) == len(["start", "six steps", "end"])


def test_the_time_of_a_step_is_that_of_this_rebuild(stack: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    times = []
    for seconds in (100.0, 1.0):
        clock = itertools.count(step=seconds)
        monkeypatch.setattr("stackmerge.build.time.perf_counter", lambda clock=clock: float(next(clock)))
        with Repository(stack.path) as repository:
            run = rebuild_stack(opened(stack, repository), None, Options(fresh=seconds > 1)).run
        times.append([(step.reused, step.elapsed_s) for step in run.steps])
    assert all(not reused and elapsed >= 100 for reused, elapsed in times[0])
    assert all(reused and elapsed < 100 for reused, elapsed in times[1])
