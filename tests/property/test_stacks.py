"""Random stacks on random upstreams: each step's tree is the one that `git merge` makes of it, conflicts included.

Both are answered by the same rule, and the stack is rebuilt on each base anew, with what was answered before. SEEDS=200
in the environment tries more of them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.sandbox import Sandbox
from tests.stories.steps import manifest

SEEDS = int(os.environ.get("SEEDS", "6"))
BASES = ("v0", "v1", "v2")
FOLDERS = ("", "d1/", "d2/", "d2/deep/")
HUNK = re.compile(rb"<{7,} [^\n]*\n(.*?)={7,}\n(.*?)>{7,} [^\n]*(?:\n|$)", re.DOTALL)


class Fuzzed:
    """A fork with bases v0, v1 and v2, and topics that mostly begin on v0."""

    def __init__(self, fork: Sandbox, seed: int) -> None:
        self.fork, self.random = fork, Random(seed)
        fork.git("config", "rerere.enabled", "false")
        fork.commit({f"{folder}{name}": self.text() for folder in FOLDERS for name in "abc"}, "v0")
        fork.git("tag", "v0")
        self.topics: list[str] = []
        for number in range(self.random.randint(3, 5)):
            start = self.random.choice(["v0", "v0", *self.topics])
            fork.git("checkout", "-q", "-b", f"t{number}", start)
            self.topics.append(f"t{number}")
            self.commits(f"t{number}")
        fork.git("checkout", "-q", "main")
        for base in BASES[1:]:
            self.commits(base)
            fork.git("tag", base)
        fork.manifest(manifest(*self.topics))

    def text(self) -> bytes:
        return b"".join(self.line() for _ in range(20))

    def line(self) -> bytes:
        return b"%d %s\n" % (self.random.randint(0, 9999), self.random.choice([b"one", b"two", b"three"]))

    def commits(self, name: str) -> None:
        for number in range(self.random.randint(1, 3)):
            for _ in range(self.random.randint(1, 2)):
                self.change()
            self.fork.git("commit", "-q", "--allow-empty", "-m", f"{name}.{number}")

    def change(self) -> None:
        """Change, add, remove or move a file, or move a folder."""
        fork, files = self.fork, self.fork.git("ls-files").splitlines()
        name, kind = self.random.choice(files), self.random.random()
        free = f"{self.random.choice(FOLDERS)}{self.random.choice('defgh')}"
        if kind < 0.6:
            lines = (fork.path / name).read_bytes().splitlines(keepends=True)
            at = self.random.randrange(len(lines) + 1)
            lines[at : at + self.random.randint(0, 2)] = [
                self.line() for _ in range(self.random.randint(0, 3))
            ]
            fork.write({name: b"".join(lines)})
        elif kind < 0.7 and free not in files:
            fork.write({free: self.text()})
        elif kind < 0.8 and free not in files:
            (fork.path / free).parent.mkdir(parents=True, exist_ok=True)
            fork.git("mv", name, free)
        elif kind < 0.87:
            fork.write({name: None})
        elif kind < 0.95:
            (fork.path / name).chmod(self.random.choice([0o644, 0o755]))
            fork.git("add", "--", name)
        elif (fork.path / "d1").is_dir() and not (fork.path / "moved").exists():
            fork.git("mv", "d1", "moved")


def answer(fork: Sandbox, tree: Path) -> None:
    """Both sides' lines where there are markers, else theirs, else ours, else nothing."""
    stages: dict[str, dict[str, str]] = {}
    for line in fork.git("ls-files", "-u", cwd=tree).splitlines():
        info, _, name = line.partition("\t")
        mode, oid, stage = info.split()
        stages.setdefault(name, {})[stage] = f"{mode},{oid}"
    for name, found in stages.items():
        file = tree / name
        if {"2", "3"} <= found.keys() and file.is_file():
            file.write_bytes(
                HUNK.sub(lambda m: m[1] + m[2], HUNK.sub(lambda m: m[1] + m[2], file.read_bytes()))
            )
            fork.git("add", "--", name, cwd=tree)
            continue
        fork.git("rm", "-q", "--cached", "--", name, cwd=tree)
        file.unlink(missing_ok=True)
        taken = found.get("3") or found.get("2")
        if taken:
            fork.git("update-index", "--add", "--cacheinfo", f"{taken},{name}", cwd=tree)
            fork.git("checkout-index", "--force", "--", name, cwd=tree)
    fork.git("clean", "-fdq", cwd=tree)
    fork.git("add", "-A", cwd=tree)


def by_git(fork: Sandbox, base: str, topics: list[str], tree: Path) -> list[str]:
    """The tree of each step; empty for a topic that the base has."""
    fork.git("checkout", "-q", "--detach", "--force", base, cwd=tree)
    found: list[str] = []
    options = (
        "-c",
        "merge.directoryRenames=conflict",
        "-c",
        "merge.conflictStyle=merge",
        "-c",
        "diff.algorithm=histogram",
    )
    for topic in topics:
        if fork.git("merge-base", topic, "HEAD", cwd=tree) == fork.git("rev-parse", topic):
            found.append("")
            continue
        fork.git(*options, "merge", "-q", "--no-ff", "-m", topic, topic, check=False, cwd=tree)
        answer(fork, tree)
        fork.git("commit", "-q", "-m", topic, check=False, cwd=tree)
        found.append(fork.git("rev-parse", "HEAD^{tree}", cwd=tree))
    return found


def by_stackmerge(fork: Sandbox, base: str) -> Any:
    """The rebuild, answered at each stop; its proof may fail, since the answers are no person's."""
    ran = fork.stackmerge("rebuild", "--onto", base, "--fresh", "--json")
    while ran.code == 3:
        answer(fork, Path(ran.json["worktree"]))
        ran = fork.stackmerge("continue", "--json")
    if ran.code == 6:
        assert fork.stackmerge("accept", "--unproven", "random").code == 0
    assert ran.code in (0, 6), ran.err
    return ran.json


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_steps_are_those_of_git_merge(fork: Sandbox, tmp_path: Path, seed: int) -> None:
    fuzzed = Fuzzed(fork, seed)
    tree = tmp_path / "by-git"
    fork.git("worktree", "add", "-q", "--detach", str(tree), "v0")
    for base in BASES:
        expected = by_git(fork, base, fuzzed.topics, tree)
        steps = by_stackmerge(fork, base)["steps"]
        assert len(steps) == len(expected)
        for step, wanted in zip(steps, expected, strict=True):
            if step["outcome"] == "landed" and wanted:
                break  # as a squash, which git merges once more
            assert (base, step["name"], step["tree"]) == (base, step["name"], wanted or step["tree"])
