"""The peer of stackmerge: a loop of `git merge` in a work tree, with git rerere trained on the same merges."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import QUIET, Git, Ran, Step, together

RERERE = ("rerere.enabled=true", "rerere.autoUpdate=true")


@dataclass(frozen=True)
class LoopStep:
    """What the loop made of a step: a tree, or the paths that rerere could not resolve."""

    tree: str
    unresolved: frozenset[str] = frozenset()


class MergeLoop:
    """Rebuilds stacks in a linked work tree of ``repository``, as a maintainer's script would."""

    def __init__(self, program: str, repository: Path, work_tree: Path) -> None:
        self.git = Git(program, work_tree, (*QUIET, *RERERE))
        self._cache = repository / "rr-cache"
        self._trained = work_tree.with_name(f"{work_tree.name}-rr-cache")
        owner = Git(program, repository)
        owner.run("worktree", "add", "--detach", "--quiet", str(work_tree), "HEAD")

    def train(self, steps: Iterable[Step]) -> None:
        """Make each merge again and show rerere the maintainer's result, as contrib/rerere-train.sh does."""
        shutil.rmtree(self._cache, ignore_errors=True)
        self._cache.mkdir()
        for step in steps:
            if step.kind == "merge":
                self.git.run("checkout", "--quiet", "--detach", step.below)
                if self.git.run("merge", "--no-ff", "--no-edit", "--quiet", step.head, ok=(0, 1)).status:
                    self.git.run("checkout", "--quiet", step.commit, "--", ".")
                    self.git.run("rerere")
                    self.git.run("reset", "--quiet", "--hard")
        shutil.rmtree(self._trained, ignore_errors=True)
        shutil.copytree(self._cache, self._trained)

    def reset_cache(self) -> None:
        """Forget what rerere has recorded since it was trained."""
        shutil.rmtree(self._cache)
        shutil.copytree(self._trained, self._cache)

    def go_to(self, commit: str) -> None:
        self.git.run("checkout", "--quiet", "--detach", commit)

    def step(self, step: Step) -> LoopStep:
        """Merge or pick one step on top of HEAD; one that stays conflicted is skipped."""
        command = (
            ("merge", "--no-ff", "--no-edit") if step.kind == "merge" else ("cherry-pick", "--allow-empty")
        )
        if self.git.run(*command, step.head, ok=(0, 1)).status:
            left = self._unmerged()
            if left:
                self.git.run(command[0], "--abort")
                return LoopStep("", left)
            self.git.run("commit", "--quiet", "--no-edit", "--allow-empty")
        return LoopStep(self.git.text("rev-parse", "HEAD^{tree}"))

    def _unmerged(self) -> frozenset[str]:
        lines = self.git.text("ls-files", "--unmerged", "-z").split("\0")
        return frozenset(line.partition("\t")[2] for line in lines if line)

    def rebuild(self, base: str, steps: Sequence[Step], evil: frozenset[str]) -> Ran:
        """The whole stack in as few commands as can do it, all of them taken together.

        The merges in ``evil`` take the maintainer's tree: rerere cannot hold what differs there.
        """
        ran = [self.git.run("checkout", "--quiet", "--detach", base)]
        for step in steps:
            ran += self._fast_step(step, step.commit in evil)
        return together(ran)

    def _fast_step(self, step: Step, evil: bool) -> Iterable[Ran]:
        if step.kind == "pick":
            yield self.git.run("cherry-pick", "--allow-empty", step.head)
            return
        options = ("--no-commit",) if evil else ("--no-edit",)
        merged = self.git.run("merge", "--no-ff", "--quiet", *options, step.head, ok=(0, 1))
        yield merged
        if evil:
            yield self.git.run("read-tree", "--reset", "-u", step.commit)
        if evil or merged.status:
            yield self.git.run("commit", "--quiet", "--no-edit")

    def find_evil(self, base: str, steps: Iterable[Step]) -> frozenset[str]:
        """The commits whose tree the loop does not make by itself; each is put right before the next."""
        self.go_to(base)
        evil = set()
        for step in steps:
            made = self.step(step)
            if made.tree != self.git.text("rev-parse", f"{step.commit}^{{tree}}"):
                evil.add(step.commit)
                self.go_to(step.commit)
        return frozenset(evil)
