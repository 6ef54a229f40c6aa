"""Kill a publication after each single request, and see that a second run ends where an undisturbed one does."""

from __future__ import annotations

import copy
import os
import shutil
import signal
from collections.abc import Callable
from typing import Any

from tests.publish import spawn
from tests.publish.world import World


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
