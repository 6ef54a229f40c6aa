"""Killed after each single request, a second run ends where an undisturbed one does: as many cases as requests."""

from __future__ import annotations

import copy
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.publish import spawn
from tests.publish.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


class Replay:
    """A world that can be put back to where it was."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._kept = world.root / "kept"
        self._places = {self._kept / "fork": world.fork.path, self._kept / "bare": world.forge.bare}
        for kept, place in self._places.items():
            shutil.copytree(place, kept, symlinks=True)
        self._pulls = copy.deepcopy(world.forge.pulls)

    def back(self) -> None:
        for kept, place in self._places.items():
            shutil.rmtree(place)
            shutil.copytree(kept, place, symlinks=True)
        forge = self.world.forge
        forge.pulls = copy.deepcopy(self._pulls)
        forge.dead, forge.after = False, None
        forge.forget()

    def publish(self, started: Callable[[int], None] = lambda _: None) -> int:
        fork = self.world.fork
        return spawn.run(("publish",), fork.path, fork.environment, started).code

    def state(self) -> Any:
        """Everything on the remote, and our record of it."""
        forge = self.world.forge
        pulls = {n: (p.title, p.body, p.head, p.base, p.state, p.merged) for n, p in forge.pulls.items()}
        record = self.world.fork.git("log", "-1", "--format=%b", "refs/stackmerge/deploy/published")
        return forge.refs(), pulls, record


def kill(world: World, pid: list[int]) -> None:
    """Kill the client in the middle of a request; from now on the forge answers nobody."""
    world.forge.dead = True
    os.killpg(pid[0], signal.SIGKILL)


def kill_everywhere(world: World) -> int:
    """Kill a publication after its first, second, … request; the number of requests that there are."""
    replay = Replay(world)
    world.forge.forget()
    assert replay.publish() == 0
    count, wanted = len(world.forge.log), replay.state()
    world.check()
    for number in range(1, count + 1):
        replay.back()
        pid: list[int] = []

        world.forge.after = lambda at, number=number, pid=pid: at == number and kill(world, pid)
        assert replay.publish(pid.append) == -signal.SIGKILL, f"after request {number}"
        world.forge.dead, world.forge.after = False, None
        assert replay.publish() == 0, f"after request {number}"
        assert replay.state() == wanted, f"after request {number}"
        world.check()
    world.forge.forget()
    assert replay.publish() == 0
    assert world.forge.writes == []
    return count


def test_the_first_publication(world: World) -> None:
    world.rebuild()
    listed, read, pushed, opened, updated = 2, 3, 2, 3, 3 * 2
    assert kill_everywhere(world) == listed + read + pushed + opened + updated


def test_a_republication_that_does_everything(world: World) -> None:
    """A new base, another order, one step dropped, one added, one landed: every kind of action."""
    world.fork.branch("topic-pink", "v1", {"pink": "pink\n"}, "Paint it pink")
    world.manifest(("red", "pink", "green"))
    world.rebuild()
    world.publish()
    world.fork.git("checkout", "-q", "--detach", "v2")
    world.fork.commit({"pink": "pink\n"}, "Paint it pink (#302)")
    world.fork.git("tag", "v4")
    world.manifest(("blue", "green", "pink"))
    world.rebuild("--onto", "v4")
    listed, read, leaving, retargeted, pushed, opened = 2, 2, 2, 1, 2, 1
    updated, closed, deleted = 2 * 2, 2 * 2, 2
    assert kill_everywhere(world) == (
        listed + read + leaving + retargeted + pushed + opened + updated + closed + deleted
    )
    assert {p.state for p in world.forge.pulls.values() if p.head in ("d/red", "d/pink")} == {"closed"}


def test_killed_after_the_push_and_rebuilt_before_the_next_run(world: World) -> None:
    """What a killed push may have left on the remote is ours, though no run has confirmed it."""
    world.rebuild()
    world.publish()
    world.rebuild("--onto", "v2")
    forge, pid = world.forge, list[int]()

    def after(at: int) -> None:
        if forge.log[at - 1][1].endswith("git-receive-pack"):
            kill(world, pid)

    forge.after = after
    ran = spawn.run(("publish",), world.fork.path, world.fork.environment, pid.append)
    assert ran.code == -signal.SIGKILL
    assert forge.tip("deploy") == world.fork.git("rev-parse", "deploy")
    forge.dead, forge.after = False, None

    world.rebuild("--onto", "v3")
    world.publish()
    world.check()
