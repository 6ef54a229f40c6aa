"""git's own merge, without a work tree.

``git merge-tree --write-tree`` makes the very tree that ``git merge`` would. From git 2.49 on it answers over
a pipe as it goes, so one child serves a whole rebuild; an older git gets one process per merge.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from stackmerge.attributes import Attributes
from stackmerge.errors import StackmergeError
from stackmerge.git import Child, Git, GitFailed
from stackmerge.objects import Commit, Entry, Objects, Person

PIPE_SINCE = (2, 49)
_NOBODY = Person.tool(0)


@dataclass(frozen=True)
class Conflict:
    """One path that git left unmerged, with its stages and git's words for it."""

    path: str
    kind: str
    base: Entry | None = None
    ours: Entry | None = None
    theirs: Entry | None = None

    @property
    def is_text(self) -> bool:
        """rerere looks at a path when stages 2 and 3 are regular files (RERERE.md)."""
        sides = self.ours and self.ours.is_file and self.theirs and self.theirs.is_file
        return bool(sides) and (self.base is None or self.base.is_file)


@dataclass(frozen=True)
class Merged:
    """The tree of a merge, conflict markers included, and what conflicted."""

    tree: str
    conflicts: tuple[Conflict, ...] = field(default=())


class Merger:
    """Merges commits of one repository, one at a time; the next may be begun while the caller still does other work."""

    def __init__(self, git: Git, objects: Objects, attributes: Attributes) -> None:
        self._git = git
        self._objects = objects
        self.attributes = attributes
        self._child: Child | None = None
        self._begun: tuple[str, str] | None = None
        self._kept: dict[tuple[str, str], Merged] = {}

    def close(self) -> None:
        if self._child:
            self._child.end()
            self._child = None
        self._begun = None

    def begin(self, ours: str, theirs: str) -> None:
        """Let git start on a merge that will be asked for; whatever is wrong with it shows then."""
        self._settle()
        with suppress(StackmergeError):
            self._start(ours, theirs)

    def merge(self, ours: str, theirs: str) -> Merged:
        """Merge commit ``theirs`` into commit ``ours``. Raises StackmergeError when git cannot merge at all."""
        if self._begun != (ours, theirs):
            self._settle()
            kept = self._kept.pop((ours, theirs), None)
            if kept:
                self._use_attributes(self._objects.commit(ours).tree)
                return kept
            self._start(ours, theirs)
        return self._finish()

    def merge_trees(self, base: str, ours: str, theirs: str) -> Merged:
        """Three-way merge of trees: what a cherry-pick is, and what the proof compares with."""
        root = self._objects.write_commit(Commit(base, (), _NOBODY, _NOBODY, "base\n"))
        a = self._objects.write_commit(Commit(ours, (root,), _NOBODY, _NOBODY, "ours\n"))
        b = self._objects.write_commit(Commit(theirs, (root,), _NOBODY, _NOBODY, "theirs\n"))
        return self.merge(a, b)

    @property
    def _piped(self) -> bool:
        return self._git.version[:2] >= PIPE_SINCE

    def _settle(self) -> None:
        """Wait for a merge that was begun, and keep its answer for whoever asks for it."""
        if self._begun:
            asked = self._begun
            with suppress(StackmergeError):  # it is asked again when somebody wants it
                self._kept = {asked: self._finish()}

    def _start(self, ours: str, theirs: str) -> None:
        """Start a merge under the attributes in force, and once more in the rare case that ``ours`` has others.

        git is at work while we look at the tree.
        """
        self._send(ours, theirs)
        tree = self._objects.commit(ours).tree
        if self.attributes.differ(tree):
            with suppress(StackmergeError):
                self._finish()
            self._use_attributes(tree)
            self._send(ours, theirs)

    def _use_attributes(self, tree: str) -> None:
        if self.attributes.use(tree) and self._piped:
            self.close()  # a child that has read them does not look again

    def _send(self, ours: str, theirs: str) -> None:
        options = ["merge-tree", "--write-tree", "-z", "--allow-unrelated-histories"]
        directory = self.attributes.directory
        if not self._piped:
            self._child = self._git.child(*options, ours, theirs, directory=directory, complaints=True)
        else:
            if self._child is None:
                options[2] = "--stdin"
                self._child = self._git.child(*options, directory=directory)
            try:
                self._child.ask(f"{ours} {theirs}\n".encode())
            except BrokenPipeError as error:
                self.close()
                raise _gone(theirs) from error
        self._begun = (ours, theirs)

    def _finish(self) -> Merged:
        assert self._begun is not None
        (ours, theirs), self._begun = self._begun, None
        return self._read_piped(theirs) if self._piped else self._read_once(ours, theirs)

    def _read_once(self, ours: str, theirs: str) -> Merged:
        assert self._child is not None
        status, said, complaint = self._child.end()
        self._child = None
        if status not in (0, 1) or not said:  # git 2.39 says 1 of a commit that is not there, too
            raise GitFailed(("merge-tree", ours, theirs), status, complaint.decode(errors="replace"))
        return _read_answer(iter(said.split(b"\0")), clean=status == 0)

    def _read_piped(self, theirs: str) -> Merged:
        assert self._child is not None
        try:
            tokens = iter(self._child.token, None)
            clean = next(tokens) == b"1"
            merged = _read_answer(tokens, clean=clean)
            if clean:
                next(tokens)  # the empty token that ends every answer; _read_kinds has it otherwise
        except EOFError as error:
            self.close()
            raise _gone(theirs) from error
        return merged


def _gone(theirs: str) -> StackmergeError:
    return StackmergeError(f"git merge-tree ended while merging {theirs}", "run it again")


def _read_answer(tokens: Iterator[bytes], *, clean: bool) -> Merged:
    """Read one answer of ``merge-tree -z``: the tree, then the stages, then the messages."""
    tree = next(tokens).decode()
    if clean:
        return Merged(tree)
    stages: dict[str, dict[int, Entry]] = {}
    while token := next(tokens):
        info, _, path = token.partition(b"\t")
        mode, oid, stage = info.decode().split(" ")
        stages.setdefault(os.fsdecode(path), {})[int(stage)] = Entry(int(mode, 8), oid)
    kinds = _read_kinds(tokens)
    return Merged(
        tree,
        tuple(
            Conflict(path, _kind(kinds.get(path, []), found), found.get(1), found.get(2), found.get(3))
            for path, found in stages.items()
        ),
    )


def _read_kinds(tokens: Iterator[bytes]) -> dict[str, list[str]]:
    """The conflict types that git reports, by path.

    git ends the list with an empty token, or, where a submodule conflicts, with advice in prose.
    """
    kinds: dict[str, list[str]] = {}
    while (count := next(tokens, b"")).isdigit():
        paths = [os.fsdecode(next(tokens)) for _ in range(int(count))]
        said = re.fullmatch(rb"CONFLICT \((.*)\)", next(tokens))
        next(tokens)
        if said:
            for path in paths:
                kinds.setdefault(path, []).append(said[1].decode())
    return kinds


def _kind(said: list[str], stages: dict[int, Entry]) -> str:
    """One word for a conflict, in git's terms, from what git said and from the stages."""
    modes = {entry.mode for entry in stages.values()}
    for special in (
        "rename/rename",
        "rename/delete",
        "modify/delete",
        "file/directory",
        "distinct modes",
        "binary",
    ):
        if special in said:
            return special
    if any("submodule" in word for word in said) or 0o160000 in modes:
        return "submodule"
    if 0o120000 in modes:
        return "symlink"
    if 2 in stages and 3 in stages:
        return "content" if 1 in stages else "add/add"
    return said[0] if said else "modify/delete"
