"""A merge that was begun ahead of its turn gives what it would have given in its turn, with every git there is."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from stackmerge import merger
from stackmerge.errors import StackmergeError
from stackmerge.repository import Repository
from tests.sandbox import GIT, Sandbox


@pytest.fixture
def heads(fork: Sandbox) -> dict[str, str]:
    """A base, a head that merges cleanly, one that conflicts, and one whose attributes settle the same conflict."""
    base = fork.commit({"a": "a\n", "b": "b\n"}, "base")
    return {
        "base": base,
        "clean": fork.branch("clean", base, {"b": "bb\n"}, "clean"),
        "red": fork.branch("red", base, {"a": "red\n"}, "red"),
        "blue": fork.branch("blue", base, {"a": "blue\n"}, "blue"),
        "union": fork.branch("union", base, {"a": "union\n", ".gitattributes": "a merge=union\n"}, "union"),
    }


def merged_by_git(fork: Sandbox, ours: str, theirs: str) -> str:
    """The tree that `git merge` leaves in the index, or the name of what conflicts."""
    fork.git("checkout", "-q", "--detach", "--force", ours)
    fork.git("merge", "--no-edit", theirs, check=False)
    conflicts = fork.git("diff", "--name-only", "--diff-filter=U")
    tree = "" if conflicts else fork.git("rev-parse", "HEAD^{tree}")
    fork.git("reset", "-q", "--hard", ours)
    return conflicts or tree


def test_begun_merges_are_those_of_git_whatever_is_asked_between(
    fork: Sandbox, heads: dict[str, str]
) -> None:
    pairs = [("red", "clean"), ("red", "blue"), ("union", "red"), ("clean", "union"), ("union", "blue")]
    expected = {pair: merged_by_git(fork, *(heads[name] for name in pair)) for pair in pairs}
    with Repository(fork.path) as repository:
        for begun in pairs:
            for asked in pairs:
                repository.merger.begin(*(heads[name] for name in begun))
                for pair in (asked, begun):
                    merged = repository.merger.merge(*(heads[name] for name in pair))
                    found = ",".join(c.path for c in merged.conflicts) or merged.tree
                    assert (pair, found) == (pair, expected[pair])


def test_what_was_expected_changes_no_answer_whether_it_is_asked_for_or_not(
    fork: Sandbox, heads: dict[str, str]
) -> None:
    pairs = [("red", "clean"), ("red", "blue"), ("union", "red"), ("clean", "union"), ("union", "blue")]
    expected = {pair: merged_by_git(fork, *(heads[name] for name in pair)) for pair in pairs}
    with Repository(fork.path) as repository:
        for begun, foreseen, other in itertools.permutations(pairs, 3):
            for order in ((begun, foreseen), (foreseen, begun), (begun, other), (other, foreseen, begun)):
                repository.merger.begin(*(heads[name] for name in begun))
                repository.merger.expect([(heads[foreseen[0]], heads[foreseen[1]])])
                for pair in order:
                    merged = repository.merger.merge(*(heads[name] for name in pair))
                    found = ",".join(c.path for c in merged.conflicts) or merged.tree
                    assert (order, pair, found) == (order, pair, expected[pair])


def test_what_is_wrong_with_a_begun_merge_shows_when_it_is_asked_for(
    fork: Sandbox, heads: dict[str, str]
) -> None:
    with Repository(fork.path) as repository:
        repository.merger.begin(heads["red"], "1" * 40)
        assert repository.merger.merge(heads["red"], heads["clean"]).conflicts == ()
        repository.merger.begin(heads["red"], "1" * 40)
        with pytest.raises(StackmergeError):
            repository.merger.merge(heads["red"], "1" * 40)
        assert repository.merger.merge(heads["red"], heads["clean"]).conflicts == ()


def children() -> set[str]:
    """The processes that we have started and that have not ended."""
    if not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists():
        pytest.skip("this kernel does not list children")
    tasks = Path(f"/proc/{os.getpid()}/task")
    return set(" ".join((task / "children").read_text() for task in tasks.iterdir()).split())


def test_a_begun_merge_does_not_outlive_the_repository(fork: Sandbox, heads: dict[str, str]) -> None:
    before = children()
    with Repository(fork.path) as repository:
        repository.merger.begin(heads["red"], heads["blue"])
        assert children() - before, f"{GIT} was not started"
    assert not children() - before


def stub(tmp_path: Path, answer: str) -> Path:
    """A git that does ``answer`` where it is asked for merges over a pipe, and is git otherwise."""
    program = tmp_path / "git-with-a-stub"
    program.write_text(f'#!/bin/sh\ncase "$*" in *--stdin*--write-tree*) {answer};; esac\nexec {GIT} "$@"\n')
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("answer", ["exit 1", "read -r _; exit 1"])
def test_a_child_that_dies_is_done_without_where_attributes_change(
    fork: Sandbox, heads: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    pairs = [("red", "clean"), ("union", "red"), ("clean", "blue"), ("union", "blue")]
    expected = [merged_by_git(fork, heads[ours], heads[theirs]) for ours, theirs in pairs]
    monkeypatch.setenv("STACKMERGE_GIT", str(stub(tmp_path, answer)))
    with Repository(fork.path) as repository:
        repository.merger.begin(heads["red"], heads["clean"])
        found = [repository.merger.merge(heads[ours], heads[theirs]).tree for ours, theirs in pairs]
    assert found == expected


@pytest.mark.parametrize("answer", ["exit 1", "read -r _; exit 1"])
def test_a_child_that_dies_is_done_without(
    fork: Sandbox, heads: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    expected = merged_by_git(fork, heads["red"], heads["clean"])
    monkeypatch.setenv("STACKMERGE_GIT", str(stub(tmp_path, answer)))
    with Repository(fork.path) as repository:
        repository.merger.begin(heads["red"], heads["blue"])
        assert repository.merger.merge(heads["red"], heads["clean"]).tree == expected
        assert [c.path for c in repository.merger.merge(heads["red"], heads["blue"]).conflicts] == ["a"]


def test_a_child_that_says_nothing_until_its_end_is_done_without(
    fork: Sandbox, heads: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = merged_by_git(fork, heads["red"], heads["clean"])
    monkeypatch.setenv("STACKMERGE_GIT", str(stub(tmp_path, "cat > /dev/null; exit 0")))
    monkeypatch.setattr(merger, "_PATIENCE", 0.5)
    with Repository(fork.path) as repository:
        if repository.git.version[:2] >= merger.FLUSHES_SINCE:
            pytest.skip("this git flushes each answer, so it is not asked whether it does")
        assert repository.merger.merge(heads["red"], heads["clean"]).tree == expected
        assert [c.path for c in repository.merger.merge(heads["red"], heads["blue"]).conflicts] == ["a"]
