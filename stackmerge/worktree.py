"""The private work tree in which a person resolves what nothing could replay.

It looks as ``git merge`` would have left it: conflicted files with markers, their stages in the index, and
MERGE_HEAD, but for what was replayed already. The user's own checkouts are never touched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from stackmerge.attributes import Attributes, PathAttributes
from stackmerge.errors import StackmergeError
from stackmerge.merge import Conflict
from stackmerge.plan import PlannedStep
from stackmerge.rawtree import Entry
from stackmerge.repository import Repository

_LABEL = re.compile(rb"^(<{7,}|\|{7,}|>{7,}) ([0-9a-f]{40})(:.*)?(?=\r?$)", re.MULTILINE)
_NAMED = 3


class ConflictTree:
    """The work tree of one stack, at ``<repository>/stackmerge/<stack>/worktree``."""

    def __init__(self, repository: Repository, stack: str) -> None:
        self._repository = repository
        self._git = repository.git
        self.path = repository.private_to(stack) / "worktree"

    @property
    def exists(self) -> bool:
        return (self.path / ".git").is_file()

    def check_out(self, step: PlannedStep, below: str, tree: str, conflicts: Iterable[Conflict]) -> None:
        """Lay out the step's conflict: ``tree`` with its markers, unmerged at ``conflicts``.

        Nothing of an earlier stop is left but files that are ignored.
        """
        self._create(below)
        self._git.run("read-tree", "--reset", "-u", tree, work_tree=self.path)
        # By the ignore rules of the new tree; what they ignore, such as build outputs, `git add` does not take.
        self._git.run("clean", "-d", "--force", "--force", "--quiet", work_tree=self.path)
        unmerged = [conflict for conflict in conflicts if conflict.staged]
        self._git.run("update-index", "-z", "--index-info", stdin=_stages(unmerged), work_tree=self.path)
        for conflict in unmerged:
            if conflict.kind == "fixup":
                self._git.run("checkout", "--merge", "--", conflict.path, work_tree=self.path, ok=(0, 1))
            self._name_sides(self.path / conflict.path, step.name)
        own = self._own
        (own / ("MERGE_HEAD" if step.kind == "merge" else "CHERRY_PICK_HEAD")).write_text(step.head + "\n")
        (own / "MERGE_MSG").write_text(f"Merge {step.title or step.name}\n")

    def _create(self, below: str) -> None:
        if not self.exists:
            self.remove()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._git.run(
                "worktree", "add", "--detach", "--no-checkout", "--force", "--", str(self.path), below
            )
            self._make_full()
            return
        self._git.run("checkout", "--detach", "--force", "--quiet", below, "--", work_tree=self.path)

    def _make_full(self) -> None:
        """git copies the settings of a sparse checkout to a new work tree; a person must see every file here."""
        own = self._own / "config.worktree"
        if own.is_file():
            self._git.run("config", "--file", str(own), "core.sparseCheckout", "false")

    @property
    def _own(self) -> Path:
        """git's own directory of this work tree."""
        return Path(self._git.text("rev-parse", "--absolute-git-dir", work_tree=self.path))

    def _name_sides(self, file: Path, name: str) -> None:
        """Put names that mean something behind the markers; rerere ids do not depend on them."""
        if file.is_symlink() or not file.is_file():
            return
        data = file.read_bytes()
        names = {b"<": b"the stack below", b"|": b"merge base", b">": os.fsencode(name)}
        named = _LABEL.sub(lambda m: m[1] + b" " + names[m[1][:1]] + (m[3] or b""), data)
        if named != data:
            file.write_bytes(named)

    def result(self, below: str, theirs: str) -> str:
        """The tree that a person made of commit ``below`` and tree ``theirs``.

        Raises StackmergeError while something is left to do.
        """
        listed = self._git.run("ls-files", "-u", "-z", work_tree=self.path).stdout
        unmerged = sorted({os.fsdecode(line.partition(b"\t")[2]) for line in listed.split(b"\0") if line})
        if unmerged:
            raise StackmergeError(
                f"still in conflict: {', '.join(unmerged)}",
                f"edit them in {self.path}, `git add` or `git rm` them, then `continue`",
            )
        changed = self._git.run(
            "diff-files", "--name-only", "-z", "--ignore-submodules", work_tree=self.path
        ).stdout
        if changed:
            names = ", ".join(sorted(os.fsdecode(name) for name in changed.split(b"\0") if name))
            raise StackmergeError(
                f"changed but not staged: {names}", f"`git add` them in {self.path}, then `continue`"
            )
        untracked = self._untracked()
        if untracked:
            more = f" and {len(untracked) - _NAMED} more" if len(untracked) > _NAMED else ""
            raise StackmergeError(
                f"untracked: {', '.join(untracked[:_NAMED])}{more}",
                f"`git add` what belongs to the step and remove the rest in {self.path}, then `continue`",
            )
        self._refuse_given_up(below)
        tree = self._git.text("write-tree", work_tree=self.path)
        self._refuse_markers(tree, self._repository.objects.commit(below).tree, theirs)
        return tree

    def untouched(self, tree: str) -> bool:
        """Does the work tree hold ``tree`` as it was laid out, and nothing that a person did?"""
        unmerged = self._git.run("ls-files", "-u", work_tree=self.path).stdout
        changed = self._git.run(
            "diff-files", "--name-only", "--ignore-submodules", work_tree=self.path
        ).stdout
        if unmerged or changed or self._untracked():
            return False
        return self._git.text("write-tree", work_tree=self.path) == tree

    def _untracked(self) -> list[str]:
        """The files that are neither tracked nor ignored."""
        listed = self._git.run("ls-files", "--others", "--exclude-standard", "-z", work_tree=self.path).stdout
        return sorted(os.fsdecode(name) for name in listed.split(b"\0") if name)

    def _refuse_given_up(self, below: str) -> None:
        """After `git merge --abort` nothing is unmerged, but nobody resolved anything either."""
        own = self._own
        merging = any((own / name).exists() for name in ("MERGE_HEAD", "CHERRY_PICK_HEAD"))
        if not merging and self._git.text("rev-parse", "HEAD", work_tree=self.path) == below:
            raise StackmergeError(
                f"the merge in {self.path} was given up, not resolved", "`stackmerge abort`, then rebuild"
            )

    def _refuse_markers(self, tree: str, ours: str, theirs: str) -> None:
        """Markers of the path's own size must be gone, unless one side has such lines as its content.

        The sides are those of the step: a person may have committed in the work tree.
        """
        objects = self._repository.objects
        changed = objects.diff(ours, tree)
        attributes = [
            self._attributes(source, changed) for source in (ours, tree)
        ]  # git wrote them by those of ours
        for path, (_, now) in sorted(changed.items()):
            before = [objects.lookup(side, path) for side in (ours, theirs)]
            sizes = {found[path].marker_size for found in attributes}
            # Where both sides renamed a file, git's markers are one longer than the path's own.
            for size in sorted(sizes | {size + 1 for size in sizes}):
                if self._is_marked(now, size) and not any(self._is_marked(one, size) for one in before):
                    raise StackmergeError(
                        f"{path} still holds conflict markers",
                        f"edit it in {self.path}, `git add` it, then `continue`",
                    )

    def _is_marked(self, entry: Entry | None, size: int) -> bool:
        from stackmerge import rerere  # every rebuild looks for the work tree, few have one

        if entry is None or not entry.is_file:
            return False
        return rerere.has_markers(self._repository.objects.blob(entry.oid), marker_size=size)

    def _attributes(self, tree: str, paths: Iterable[str]) -> dict[str, PathAttributes]:
        """The attributes of paths, as those of ``tree`` say."""
        source = Attributes(self._git, self._repository.objects)
        try:
            source.use(tree)
            return source.of(paths)
        finally:
            source.close()

    def remove(self) -> None:
        """Remove the work tree and git's record of it."""
        if self.path.exists():
            self._git.run("worktree", "remove", "--force", "--force", "--", str(self.path), ok=(0, 128))
        self._git.run("worktree", "prune", ok=(0, 128))


def _stages(conflicts: Iterable[Conflict]) -> bytes:
    """What `update-index --index-info` needs to leave each path unmerged."""
    lines: list[bytes] = []
    for conflict in conflicts:
        path = os.fsencode(conflict.path)
        lines.append(b"0 %s\t%s" % (b"0" * 40, path))
        stages: list[Entry | None] = [conflict.base, conflict.ours, conflict.theirs]
        for number, entry in enumerate(stages, 1):
            if entry:
                lines.append(b"%o %s %d\t%s" % (entry.mode, entry.oid.encode(), number, path))
    return b"".join(line + b"\0" for line in lines)
