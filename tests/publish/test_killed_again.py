"""A republication killed after each request, whatever it does: as many cases as requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.publish.killing import kill_everywhere
from tests.publish.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


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
