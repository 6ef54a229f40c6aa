"""git tells of a conflict and leaves nothing unmerged: a person is asked all the same, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, outcomes, rebuild, used


def lines(start: int, count: int = 40) -> str:
    return "".join(f"{n}\n" for n in range(start, start + count))


def a_directory_that_upstream_has_split(fork: Sandbox) -> None:
    """Upstream moves z/f1 and z/f2 to x, z/f3 and z/f4 to y; the step adds z/new."""
    files = {f"f{n}": lines(1000 * n) for n in range(1, 5)}
    fork.commit({f"z/{name}": text for name, text in files.items()}, "one")
    fork.git("tag", "v0")
    fork.branch("topic", "v0", {"z/new": lines(9000)}, "topic")
    for name, text in files.items():
        folder = "x" if name in ("f1", "f2") else "y"
        fork.write({f"z/{name}": None, f"{folder}/{name}": text})
    fork.git("commit", "-q", "-m", "two")
    fork.git("tag", "v1")
    fork.commit({"other": "other\n"}, "three")
    fork.git("tag", "v2")
    fork.manifest(manifest("topic"))


@pytest.mark.parametrize("moved", [True, False])
def test_it_stops_goes_on_and_replays(fork: Sandbox, moved: bool) -> None:
    a_directory_that_upstream_has_split(fork)
    stopped = rebuild(fork, code=3)
    [conflict] = stopped["steps"][0]["conflicts"]
    assert conflict["path"] == "z"
    assert "directory rename" in conflict["kind"]

    tree = Path(stopped["worktree"])
    assert (tree / "z/new").read_text() == lines(9000)
    if moved:
        fork.git("mv", "z/new", "x/new", cwd=tree)
    done = go_on(fork)
    expected = "x/new" if moved else "z/new"
    assert fork.show("deploy", expected) == lines(9000).removesuffix("\n")

    onto = rebuild(fork, "--onto", "v2", "--fresh")
    assert outcomes(onto) == {"topic": "fixup" if moved else "replayed"}
    assert ("exact", "z") in used(onto, "topic")
    assert fork.show("deploy", expected) == lines(9000).removesuffix("\n")
    assert fork.git("ls-tree", "--name-only", "deploy", "z/") == ("" if moved else "z/new")
    assert done["status"] == onto["status"] == "complete"
    assert fork.stackmerge("report", "--out", "r.html").code == 0


def test_it_is_learned_from_a_history(fork: Sandbox) -> None:
    a_directory_that_upstream_has_split(fork)
    fork.git("checkout", "-q", "-b", "old", "v1")
    fork.git("merge", "topic", check=False)
    fork.git("mv", "z/new", "y/new")
    fork.git("commit", "-q", "-m", "Merge topic")
    assert fork.stackmerge("train", "v1..old").code == 0
    fork.git("checkout", "-q", "main")
    assert ("exact", "z") in used(rebuild(fork), "topic")
    assert fork.show("deploy", "y/new") == lines(9000).removesuffix("\n")
