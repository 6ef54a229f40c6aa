"""Pull requests and branches that are not ours, whatever the record says: nothing of them is touched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.publish.forge_server import Forge, PullRequest
from tests.publish.world import World

RECORD = "refs/stackmerge/deploy/published"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    made.rebuild()
    made.publish()
    yield made
    made.close()


def edit(world: World, old: str, new: str) -> None:
    path = world.fork.path / "stackmerge.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def rewrite(world: World, change: Callable[[dict[str, Any]], None]) -> None:
    """Write the record otherwise."""
    found = json.loads(world.fork.git("log", "-1", "--format=%b", RECORD))
    change(found)
    tree = world.fork.git("rev-parse", f"{RECORD}^{{tree}}")
    args = ["-p", world.fork.git("rev-parse", "deploy"), "-m", "published", "-m", json.dumps(found), tree]
    world.fork.git("update-ref", RECORD, world.fork.git("commit-tree", *args))


@pytest.fixture
def moved(world: World) -> Iterator[Forge]:
    """Another forge that the remote is at now, where the numbers that we know are other people's."""
    made = Forge(world.root / "remote2", "keeper", "moved")
    names = {11: "alice", 12: "bob"}
    pushed = [f"topic-red:refs/heads/{name}" for name in names.values()]
    world.fork.git("push", "-q", str(made.bare), "v1:refs/heads/main", *pushed)
    for number, name in names.items():
        made.pulls[number] = PullRequest(number, f"By {name}", "My words", name, "main")
    world.fork.git("remote", "set-url", "origin", made.git_url)
    edit(world, world.forge.api, made.api)
    edit(world, "keeper/fork", "keeper/moved")
    yield made
    made.close()


def test_at_another_place_our_numbers_are_other_peoples(world: World, moved: Forge) -> None:
    world.manifest(("green", "red"))
    edit(world, world.forge.api, moved.api)
    edit(world, "keeper/fork", "keeper/moved")
    world.rebuild()
    theirs = {number: PullRequest(**vars(pull)) for number, pull in moved.pulls.items()}
    world.forge.forget()
    done = world.publish()
    for number, pull in theirs.items():
        now = moved.pulls[number]
        assert (now.title, now.body, now.base, now.state) == (pull.title, pull.body, pull.base, "open")
    assert {"refs/heads/alice", "refs/heads/bob"} <= set(moved.refs())
    place = world.forge.api.removeprefix("http://").removesuffix("/api")
    assert done["notes"] == [f"what was published at {place}/keeper/fork before is left as it is there"]
    assert {branch: pull.number for branch, pull in moved.open().items() if pull.number > 12} == {
        "d/green": 13,
        "d/red": 14,
    }
    assert world.forge.log == []
    assert not moved.violations
    moved.forget()
    assert world.publish()["notes"] == []
    assert moved.writes == []


def test_a_record_without_a_place_counts_here(world: World) -> None:
    rewrite(world, lambda record: record.pop("place"))
    world.manifest(("green", "blue"))
    world.rebuild()
    assert world.publish()["notes"] == []
    world.check()
    assert world.forge.pulls[11].state == "closed"


@pytest.mark.parametrize("steps", [("red", "green", "blue"), ("green", "blue")])
def test_a_number_that_is_no_longer_one_of_the_branch(world: World, steps: tuple[str, ...]) -> None:
    world.fork.git("push", "-q", str(world.forge.bare), "topic-red:refs/heads/alice")
    world.forge.pulls[20] = PullRequest(20, "By alice", "My words", "alice", "main")
    rewrite(world, lambda record: record["pulls"]["d/red"].update(number=20))
    world.manifest(steps)
    world.rebuild("--onto", "v2")
    done = world.publish()
    assert "pull request 20 is not one from d/red any more and is left alone" in done["notes"]
    assert vars(world.forge.pulls[20]) == vars(PullRequest(20, "By alice", "My words", "alice", "main")) | {
        name: getattr(world.forge.pulls[20], name) for name in ("last_head", "last_base")
    }


def test_a_branch_of_the_same_name_in_a_fork_is_not_ours(world: World) -> None:
    tip = world.fork.git("rev-parse", "topic-red")
    theirs = PullRequest(20, "By alice", "My words", "d/red", "main", fork=True, last_head=tip)
    world.forge.pulls = {20: theirs, **{n: pull for n, pull in world.forge.pulls.items() if n != 11}}
    rewrite(world, lambda record: record["pulls"]["d/red"].update(number=20))
    world.publish()
    assert (theirs.title, theirs.body, theirs.state) == ("By alice", "My words", "open")
    assert world.forge.open()["d/red"].number == 21


def test_a_branch_that_is_the_trunk_now_is_not_deleted(world: World) -> None:
    world.fork.git("branch", "keep", "d/red")
    world.manifest(("green", "blue"))
    edit(world, "repository: keeper/fork", "repository: keeper/fork, trunk: d/red")
    edit(world, "base: v1", "base: keep")
    world.rebuild("--onto", "keep")
    done = world.publish()
    assert not {"close", "delete"} & {action["action"] for action in done["actions"]}
    assert world.forge.tip("d/red") == world.fork.git("rev-parse", "keep")
    assert world.forge.pulls[11].state == "open"
    assert world.forge.open()["d/green"].base == "d/red"


def test_a_pull_request_that_a_person_squashed_is_not_opened_again(world: World) -> None:
    squashed = world.fork.git("commit-tree", "-p", "v1", "-m", "Paint it red (#11)", "d/red^{tree}")
    world.fork.git("push", "-q", str(world.forge.bare), f"{squashed}:refs/heads/main")
    pull = world.forge.pulls[11]
    pull.state, pull.merged = "closed", True
    world.forge.forget()
    again = world.publish()
    assert again["notes"] == ["pull request 11 (red) was merged by a person and is left alone"]
    assert world.forge.writes == []
