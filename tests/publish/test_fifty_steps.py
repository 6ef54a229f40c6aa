"""A stack of fifty steps: what is unchanged costs at most two requests a step, and no write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stackmerge.forge import pace
from stackmerge.publish.publish import Outcome, publish
from stackmerge.repository import Repository
from stackmerge.stack import open_stack
from tests.publish.world import World

COUNT = 50
STEPS = tuple(f"s{number:02d}" for number in range(1, COUNT + 1))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """The heads are made by one fast-import; our own pace, which is tested elsewhere, is set aside."""
    made = World(tmp_path, steps=())
    made.fork.git("fast-import", "--quiet", stdin=heads(made.fork.git("rev-parse", "v1")).encode())
    made.manifest(STEPS)
    monkeypatch.setattr(pace, "WINDOWS", ((60.0, 10**6),))
    for name, value in made.fork.environment.items():
        monkeypatch.setenv(name, value)
    yield made
    made.close()


def heads(base: str) -> str:
    lines = []
    for number, step in enumerate([*STEPS, "other"]):
        lines += [
            f"commit refs/heads/topic-{step}",
            f"committer Ada <ada@example.com> {1_700_000_000 + number} +0000",
        ]
        lines += [f"data <<E\nAdd {step}\nE", f"from {base}", f"M 644 inline {step}", f"data <<E\n{step}\nE"]
    return "\n".join(lines) + "\n"


def run(world: World) -> Outcome:
    world.forge.forget()
    with Repository(world.fork.path) as repository:
        return publish(open_stack(repository, world.fork.path / "stackmerge.yaml"))


def test_fifty_steps(world: World) -> None:
    world.rebuild()
    first = run(world)
    world.check()
    assert first.written == 2 * COUNT
    assert len([one for one in world.forge.log if one[1].endswith("git-receive-pack")]) == 1

    nothing = run(world)
    assert nothing.actions == ()
    assert world.forge.writes == []
    assert len(world.forge.log) <= 2 * COUNT
    assert len(world.forge.log) == 2 + COUNT

    manifest = world.fork.path / "stackmerge.yaml"
    manifest.write_text(manifest.read_text().replace("merge: topic-s50", "merge: topic-other"))
    world.rebuild()
    top = run(world)
    world.check()
    assert top.written == 1
    per_step = [
        sum(path.endswith(f"/pulls/{10 + number}") for _, path in world.forge.log)
        for number in range(1, COUNT)
    ]
    assert set(per_step) == {1}
