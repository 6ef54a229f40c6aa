"""Killed after each request, a second run ends where an undisturbed one does: as many cases as requests."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.publish import spawn
from tests.publish.killing import kill, kill_everywhere
from tests.publish.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


def test_the_first_publication(world: World) -> None:
    world.rebuild()
    listed, read, pushed, opened, updated = 2, 3, 2, 3, 3 * 2
    assert kill_everywhere(world) == listed + read + pushed + opened + updated


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
