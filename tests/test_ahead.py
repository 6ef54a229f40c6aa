"""What git is told ahead of a rebuild is a guess: right or wrong, the rebuild comes out the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackmerge import ahead
from stackmerge.outcome import Options
from stackmerge.rebuild import rebuild as rebuild_stack
from stackmerge.repository import Repository
from stackmerge.stack import open_stack
from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, rebuild, resolve
from tests.test_merge import children

HEADS = ("red", "blue", "union", "green", "pick", "top")


@pytest.fixture
def stack(fork: Sandbox) -> Sandbox:
    """A stack with a conflict, a step that changes attributes, a pick, and merges above each."""
    base = fork.commit({"a": nine(), "b": nine(), "c": nine()}, "base")
    fork.git("tag", "v1")
    fork.branch("red", base, {"a": nine(l1="red")}, "red")
    fork.branch("blue", base, {"a": nine(l1="blue"), "b": nine(l1="blue")}, "blue")
    fork.branch("union", base, {".gitattributes": "c merge=union\n", "c": nine(l1="one")}, "union")
    fork.branch("green", base, {"c": nine(l1="two"), "b": nine(l9="green")}, "green")
    fork.branch("pick", base, {"b": nine(l5="picked")}, "pick")
    fork.branch("top", base, {"a": nine(l9="top")}, "top")
    fork.manifest(manifest(*HEADS).replace("merge: pick", "pick: pick"))
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple")})
    assert go_on(fork)["status"] == "complete"
    return fork


Steps = dict[str, dict[str, str]]


def as_it_is(steps: Steps) -> None:
    del steps


def others_commits(steps: Steps) -> None:
    """Each step's commit is that of the step below it."""
    commits = [pin["commit"] for pin in steps.values()]
    for pin, commit in zip(steps.values(), [commits[-1], *commits], strict=False):
        pin["commit"] = commit


def wrong_in_the_middle(steps: Steps) -> None:
    steps["union"]["commit"] = steps["red"]["commit"]


def no_commits(steps: Steps) -> None:
    for pin in steps.values():
        pin["commit"] = ""


def lost_commits(steps: Steps) -> None:
    for pin in steps.values():
        pin["commit"] = "1" * 40


def landed(steps: Steps) -> None:
    steps["blue"]["outcome"] = "landed"


def made(fork: Sandbox, name: str, *, told: bool, **options: Any) -> list[tuple[str, str, str]]:
    """Rebuild a copy of a repository, with what git is told ahead and without; the steps that came out."""
    copy = fork.path.parent / name
    shutil.copytree(fork.path, copy, symlinks=True)
    with Repository(copy) as repository:
        opened = open_stack(repository, copy / "stackmerge.yaml")
        if told:
            ahead.begin(opened, None, fresh=True)
        found = rebuild_stack(opened, None, Options(fresh=True, **options))
    return [(step.name, step.outcome, step.commit) for step in found.run.steps]


@pytest.mark.parametrize(
    "change", [as_it_is, others_commits, wrong_in_the_middle, no_commits, lost_commits, landed]
)
def test_right_or_wrong_guesses_change_nothing(stack: Sandbox, change: Callable[[Steps], None]) -> None:
    lock = stack.path / "stackmerge.lock"
    found = json.loads(lock.read_text())
    change(found["steps"])
    lock.write_text(json.dumps(found))
    with_guesses = made(stack, "told", told=True)
    assert with_guesses == made(stack, "not-told", told=False)
    assert [name for name, _, _ in with_guesses] == list(HEADS)


def test_steps_in_another_order_come_out_the_same(stack: Sandbox) -> None:
    stack.manifest(manifest(*reversed(HEADS)).replace("merge: pick", "pick: pick"))
    assert made(stack, "told", told=True, keep_going=True) == made(
        stack, "not-told", told=False, keep_going=True
    )


def test_an_answer_that_was_forgotten_is_asked_for_again(stack: Sandbox) -> None:
    ids = [one["id"] for one in json.loads(stack.stackmerge("rerere", "list", "--json").out)["resolutions"]]
    assert ids
    for one in ids:
        assert stack.stackmerge("rerere", "forget", one).code == 0
    found = rebuild(stack, "--fresh", code=3)
    assert list(outcomes(found).values())[:3] == ["clean", "conflict", "skipped"]
    resolve(stack, found, {"a": nine(l1="violet")})
    assert go_on(stack)["status"] == "complete"
    assert stack.show("deploy", "a") + "\n" == nine(l1="violet", l9="top")


def test_what_was_told_ahead_does_not_outlive_the_repository(stack: Sandbox) -> None:
    before = children()
    with Repository(stack.path) as repository:
        ahead.begin(open_stack(repository, stack.path / "stackmerge.yaml"), None, fresh=True)
        assert children() - before
    assert not children() - before


@pytest.mark.parametrize("onto", ["no-such-revision", "-x"])
def test_a_wrong_revision_is_said_by_the_rebuild(stack: Sandbox, onto: str) -> None:
    ran = stack.stackmerge("rebuild", "--fresh", f"--onto={onto}")
    assert ran.code != 0
    assert ran.err.count("error: ") == 1


def test_nothing_is_told_where_nothing_would_be_merged_again(stack: Sandbox) -> None:
    before = children()
    with Repository(stack.path) as repository:
        opened = open_stack(repository, stack.path / "stackmerge.yaml")
        ahead.begin(opened, None, fresh=False)
        assert not children() - before
        (Path(repository.common_dir) / "objects" / "info" / "commit-graph").unlink()
        ahead.begin(opened, None, fresh=True)
        assert not children() - before
