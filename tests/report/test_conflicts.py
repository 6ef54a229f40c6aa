"""Conflicts of every kind on the page: what markers cannot show, picks, and what lies above a squash that landed."""

from __future__ import annotations

import os
from pathlib import Path

from stackmerge.report.conflicts import Conflicts, ConflictView
from stackmerge.repository import Repository
from stackmerge.stack import open_stack
from tests.report.test_report import page
from tests.sandbox import Sandbox


def conflicts(fork: Sandbox, step: str) -> tuple[ConflictView, ...]:
    with Repository(fork.path) as repository:
        run = open_stack(repository, fork.path / "stackmerge.yaml").last_run()
        assert run is not None
        return Conflicts(repository, run).of(run.by_name[step])


def rebuilt(
    fork: Sandbox, names: tuple[str, ...], answer: dict[str, str | bytes], verb: str = "merge"
) -> None:
    """Rebuild the stack of ``names`` on v1, and answer the conflict of the last of them."""
    fork.manifest(
        "stack: deploy\nbase: v1\nsteps:\n" + "".join(f"- name: {n}\n  {verb}: {n}\n" for n in names)
    )
    stopped = fork.stackmerge("rebuild", "--json")
    assert stopped.code == 3, stopped.err
    tree = Path(stopped.json["worktree"])
    for name, content in answer.items():
        (tree / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        fork.git("add", name, cwd=tree)
    assert fork.stackmerge("continue").code == 0


def forked(fork: Sandbox, red: dict[str, str | bytes | None], blue: dict[str, str | bytes | None]) -> None:
    fork.branch("red", "v1", red, "red")
    fork.branch("blue", "v1", blue, "blue")


def test_a_binary_file_is_told_by_its_size(fork: Sandbox) -> None:
    fork.commit({"a": b"\0" * 5}, "one")
    fork.git("tag", "v1")
    forked(fork, {"a": b"\0" * 10}, {"a": b"\0" * 2000})
    rebuilt(fork, ("red", "blue"), {"a": b"\0" * 30})
    (found,) = conflicts(fork, "blue")
    sizes = ["10 bytes", "2,000 bytes", "30 bytes"]
    assert [size in side.words for size, side in zip(sizes, found.sides, strict=True)] == [True] * 3
    assert found.hunks == ()


def test_a_modified_file_shows_what_its_deletion_lost(fork: Sandbox, tmp_path: Path) -> None:
    fork.commit({"a": "1\n2\n3\n", "b": "b\n"}, "one")
    fork.git("tag", "v1")
    forked(fork, {"a": None}, {"a": "1\ntwo\n3\n"})
    rebuilt(fork, ("red", "blue"), {"a": "1\nnew\n3\n"})
    (found,) = conflicts(fork, "blue")
    assert [side.label for side in found.sides] == ["the stack below", "blue", "the answer"]
    assert found.sides[0].words == "deleted"
    marks = [(line.mark, line.text) for line in found.sides[1].edits[0].lines]
    assert marks == [("", "1"), ("gone", "2"), ("added", "two"), ("", "3")]
    assert "recorded by Ada <ada@example.com>" in page(fork, tmp_path)[0].text


def test_a_pick_shows_its_conflict(fork: Sandbox) -> None:
    fork.commit({"a": "1\n2\n3\n"}, "one")
    fork.git("tag", "v1")
    forked(fork, {"a": "1\nred\n3\n"}, {"a": "1\nblue\n3\n"})
    rebuilt(fork, ("red", "blue"), {"a": "1\npurple\n3\n"}, verb="pick")
    (found,) = conflicts(fork, "blue")
    (hunk,) = found.hunks
    sides = (hunk.ours, hunk.theirs, hunk.answer)
    assert [[line.text for line in side] for side in sides] == [["red"], ["blue"], ["purple"]]


def test_a_fixup_shows_what_it_changes(generated: Sandbox) -> None:
    (found,) = conflicts(generated, "step-4")
    assert (found.path, found.kind) == ("shared/4.txt", "none: the merge was clean")
    changed = [(line.mark, line.text) for line in found.edits[0].lines if line.mark]
    assert changed == [("gone", "line 9"), ("added", "mended by step 4")]
    assert found.answers[0].how == "fixup"


def test_a_step_above_a_squash_that_landed_is_merged_as_the_rebuild_did(fork: Sandbox) -> None:
    """blue grew out of red, which the base has as a squash: without knowing that, red's lines would conflict too."""
    fork.commit({"a": "".join(f"{n}\n" for n in range(20))}, "one")
    fork.git("tag", "v1")
    red = "".join(f"{'red' if n == 3 else n}\n" for n in range(20))
    fork.branch("red", "v1", {"a": red}, "red")
    fork.branch(
        "blue", "red", {"a": red.replace("red\n", "red and blue\n").replace("15\n", "blue\n")}, "blue"
    )
    fork.branch("green", "v1", {"a": "".join(f"{'green' if n == 15 else n}\n" for n in range(20))}, "green")
    names = ("red", "green", "blue")
    rebuilt(fork, names, {"a": red.replace("red\n", "red and blue\n").replace("15\n", "green and blue\n")})
    fork.commit({"a": red}, "red, squashed")
    fork.git("tag", "v2")
    assert fork.stackmerge("rebuild", "--onto", "v2", "--json").code == 0
    (found,) = conflicts(fork, "blue")
    assert [[line.text for line in hunk.ours] for hunk in found.hunks] == [["green"]]


def test_a_path_that_is_no_utf8_is_shown(fork: Sandbox, tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    fork.commit({name: "1\n2\n3\n"}, "one")
    fork.git("tag", "v1")
    forked(fork, {name: "1\nred\n3\n"}, {name: "1\nblue\n3\n"})
    rebuilt(fork, ("red", "blue"), {name: "1\npurple\n3\n"})
    assert "caf\\u{dce9}" in page(fork, tmp_path)[0].text
