"""Ancestry in memory against `git merge-base`, on random stacks over random histories."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from stackmerge.ancestry import Ancestry, History
from stackmerge.repository import Repository
from tests.sandbox import Sandbox

Parents = list[list[int]]


@st.composite
def histories(draw: st.DrawFn) -> tuple[Parents, list[int]]:
    """The parents of each commit by number, and the heads that a stack on the last commit of a trunk merges."""
    parents: Parents = [[]]
    for n in range(1, draw(st.integers(3, 14))):
        count = draw(st.integers(1, min(2, n)))
        parents.append(draw(st.lists(st.integers(0, n - 1), min_size=count, max_size=count, unique=True)))
    heads = draw(st.lists(st.integers(0, len(parents) - 1), min_size=1, max_size=5))
    return parents, heads


def built(fork: Sandbox, parents: Parents) -> list[str]:
    empty = fork.git("mktree", stdin=b"")
    made: list[str] = []
    for n, below in enumerate(parents):
        fork.clock += 60
        options = [word for parent in below for word in ("-p", made[parent])]
        made.append(fork.git("commit-tree", empty, "-m", str(n), *options))
    return made


def stacked(fork: Sandbox, base: str, heads: list[str]) -> list[str]:
    """The commits of a stack that merges each head, lowest first, and the base below them."""
    empty, made = fork.git("mktree", stdin=b""), [base]
    for head in heads:
        fork.clock += 60
        made.append(fork.git("commit-tree", empty, "-m", "step", "-p", made[-1], "-p", head))
    return made


def bases(fork: Sandbox, one: str, other: str) -> set[str]:
    return set(fork.git("merge-base", "--all", one, other, check=False).split())


def is_ancestor(fork: Sandbox, old: str, new: str) -> bool:
    done = subprocess.run(
        ["git", "merge-base", "--is-ancestor", old, new], cwd=fork.path, env=fork.environment, check=False
    )
    return done.returncode == 0


@settings(max_examples=40, deadline=None)
@given(histories(), st.data())
def test_merge_bases_and_ancestors_are_those_of_git(
    made: tuple[Parents, list[int]], data: st.DataObject
) -> None:
    parents, wanted = made
    with tempfile.TemporaryDirectory() as name:
        fork = Sandbox(Path(name))
        commits = built(fork, parents)
        base = commits[data.draw(st.integers(0, len(commits) - 1))]
        heads = [commits[n] for n in wanted]
        stack = stacked(fork, base, heads)
        other = stacked(fork, base, heads[::-1])
        with Repository(fork.path) as repository:
            ancestry = Ancestry(repository.git, repository.objects, base, heads)
            plain = History(repository.git)
            asked = data.draw(
                st.lists(st.tuples(st.sampled_from(stack + other), st.sampled_from(heads)), max_size=12)
            )
            for tip, head in asked:
                held = is_ancestor(fork, head, tip)
                assert ancestry.holds(tip, head) == held
                assert plain.holds(tip, head) == held
                assert set(ancestry.merge_bases(tip, head)) == bases(fork, tip, head)


def test_a_commit_that_is_not_here_holds_nothing(fork: Sandbox) -> None:
    base = fork.commit({"a": "a\n"}, "base")
    missing = "1" * 40
    with Repository(fork.path) as repository:
        ancestry = Ancestry(repository.git, repository.objects, base, [base])
        assert not ancestry.holds(missing, base)
        assert not ancestry.holds(base, missing)
