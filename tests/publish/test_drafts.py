"""Drafts where the title makes them: the mark is the forge's, and no edit of a person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.publish.gitlab_server import GitLab
from tests.publish.world import World

OURS = "Merge upstream PR 303: "


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path, forge=GitLab)
    edit(made, "repository: keeper/fork", "draft: true, repository: keeper/fork")
    edit(made, "  pr: 303\n", "  pr: 303\n  title: A colour\n")
    made.rebuild()
    assert made.publish()["notes"] == []
    yield made
    made.close()


def edit(world: World, old: str, new: str) -> None:
    path = world.fork.path / "stackmerge.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def renamed(world: World) -> list[str]:
    """Give the step another title; what publish says of it."""
    edit(world, "title: A colour", "title: Another colour")
    world.rebuild()
    return list(world.publish()["notes"])


def test_a_title_of_a_draft_follows_and_it_stays_a_draft(world: World) -> None:
    assert world.forge.open()["d/blue"].title == f"Draft: {OURS}A colour"
    assert world.publish()["written"] == 0
    assert renamed(world) == []
    world.check()
    assert world.forge.open()["d/blue"].title == f"Draft: {OURS}Another colour"


def test_one_that_a_person_made_ready_stays_ready(world: World) -> None:
    pull = world.forge.open()["d/blue"]
    pull.title = pull.title.removeprefix("Draft: ")
    assert renamed(world) == []
    assert pull.title == f"{OURS}Another colour"


def test_one_that_a_person_made_a_draft_in_another_way_stays_one(world: World) -> None:
    pull = world.forge.open()["d/blue"]
    pull.title = pull.title.replace("Draft:", "[Draft]")
    assert renamed(world) == []
    assert pull.title == f"[Draft] {OURS}Another colour"


def test_a_title_that_a_person_wrote_for_a_draft_stays(world: World) -> None:
    pull = world.forge.open()["d/blue"]
    pull.title = "Draft: Blue, please"
    assert renamed(world) == ["pull request 13: title was edited by a person and is kept"]
    assert pull.title == "Draft: Blue, please"
