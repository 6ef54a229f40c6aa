"""git's own merge, without a work tree.

``git merge-tree --write-tree`` makes the very tree that ``git merge`` would. One child that is asked over a pipe
serves a whole rebuild: its caches stay warm, and a merge takes a third of the time that a process of its own takes.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from stackmerge.attributes import Attributes
from stackmerge.errors import StackmergeError
from stackmerge.git import Child, Git, GitFailed
from stackmerge.objects import Commit, Objects, Person
from stackmerge.rawtree import Entry

FLUSHES_SINCE = (2, 49)
_PUSHING = 12  # files, which make 18 KB; C libraries have buffers of 1 to 16 KB
_PATIENCE = 5.0  # seconds to wait for the first byte of the first answer
_OPTIONS = ("--write-tree", "-z", "--allow-unrelated-histories")
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
    """Merges commits of one repository, one at a time; the next may be begun while the caller still does other work.

    And the one after that may be expected: git goes on to it by itself.

    One child of git makes them all. Only where it cannot be spoken with, each merge is a process of its own.
    """

    def __init__(self, git: Git, objects: Objects, attributes: Attributes) -> None:
        self._git = git
        self._objects = objects
        self.attributes = attributes
        self._child: Child | None = None
        self._silent = False
        self._begun: deque[tuple[str, str]] = deque()
        self._kept: dict[tuple[str, str], Merged] = {}

    def close(self) -> None:
        if self._child:
            self._child.end()
            self._child = None
        self._begun.clear()

    def begin(self, ours: str, theirs: str) -> None:
        """Let git start on a merge that will be asked for; whatever is wrong with it shows then."""
        if (ours, theirs) not in self._begun:
            self._settle()
            self._start(ours, theirs)

    def expect(self, ours: str, theirs: str) -> None:
        """Let git go on to a merge that will probably be asked for, when it has made the one that was begun."""
        if len(self._begun) == 1 and not self.attributes.differ(self._objects.commit(ours).tree):
            self._send(ours, theirs)

    def merge(self, ours: str, theirs: str) -> Merged:
        """Merge commit ``theirs`` into commit ``ours``. Raises StackmergeError when git cannot merge at all."""
        self._settle(before=(ours, theirs))
        if self._begun:
            return self._finish()
        kept = self._kept.pop((ours, theirs), None)
        if kept:
            self._use_attributes(self._objects.commit(ours).tree)
            return kept
        self._start(ours, theirs)
        return self._finish() if self._begun else self._alone(ours, theirs)

    def merge_trees(self, base: str, ours: str, theirs: str) -> Merged:
        """Three-way merge of trees: what a cherry-pick is, and what the proof compares with."""
        return self.merge(*self._as_commits(base, ours, theirs))

    def _as_commits(self, base: str, ours: str, theirs: str) -> tuple[str, str]:
        root = self._objects.write_commit(Commit(base, (), _NOBODY, _NOBODY, "base\n"))
        a = self._objects.write_commit(Commit(ours, (root,), _NOBODY, _NOBODY, "ours\n"))
        b = self._objects.write_commit(Commit(theirs, (root,), _NOBODY, _NOBODY, "theirs\n"))
        return a, b

    def _settle(self, before: tuple[str, str] | None = None) -> None:
        """Wait for the merges that were begun, and keep their answers for whoever asks for them."""
        if self._begun and self._begun[0] != before:
            self._kept.clear()
        while self._begun and self._begun[0] != before:
            asked = self._begun[0]
            with suppress(StackmergeError):  # it is asked again when somebody wants it
                self._kept[asked] = self._finish()

    def _start(self, ours: str, theirs: str) -> None:
        """Start a merge under the attributes in force, and once more in the rare case that ``ours`` has others.

        git is at work while we look at the tree.
        """
        tree = self._objects.commit(ours).tree
        if not self.attributes.in_force:
            self._use_attributes(tree)
        self._send(ours, theirs)
        if self.attributes.differ(tree):
            with suppress(StackmergeError):
                self._finish()
            self._use_attributes(tree)
            self._send(ours, theirs)

    def _use_attributes(self, tree: str) -> None:
        if self.attributes.use(tree):
            self.close()  # a child that has read them does not look again

    # -- the child

    def _send(self, ours: str, theirs: str) -> None:
        """Ask the child for a merge; where there is none that answers, nothing is begun."""
        try:
            if self._child is None and not self._silent:
                self._call()
            if self._child:
                self._child.ask(f"{ours} {theirs}\n".encode() + self._push)
                self._begun.append((ours, theirs))
        except BrokenPipeError:
            self.close()

    def _call(self) -> None:
        """Start the child, and hear whether its answers come while it waits for the next question."""
        directory = self.attributes.directory
        self._child = self._git.child("merge-tree", "--stdin", *_OPTIONS, directory=directory)
        if self._push:
            self._child.ask(self._push)
            if not self._child.is_heard(_PATIENCE):
                self._silent = True
                self.close()

    @cached_property
    def _push(self) -> bytes:
        """A merge with a long answer, that pushes the one before it out of git's buffer; empty from git 2.49 on.

        An older git writes only when its buffer is full. Nothing is merged here: files that one side changed and
        the other deleted, with long names, are all a conflict, and git names each of them several times.
        """
        if self._git.version[:2] >= FLUSHES_SINCE:
            return b""
        one, other = (self._objects.write_blob(text) for text in (b"1\n", b"2\n"))
        names = [b"%03d" % n + b"-" * 240 for n in range(_PUSHING)]
        base, ours = (
            self._objects.write_tree({n: Entry(0o100644, oid) for n in names}) for oid in (one, other)
        )
        return "{} {}\n".format(*self._as_commits(base, ours, self._objects.write_tree({}))).encode()

    def _finish(self) -> Merged:
        assert self._child is not None
        ours, theirs = self._begun.popleft()
        try:
            if self._push:
                _read_answer(self._child.tokens())
            return _read_answer(self._child.tokens())
        except EOFError:  # it died of this merge, and says why to one who asks for nothing else
            self.close()
            return self._alone(ours, theirs)

    def _alone(self, ours: str, theirs: str) -> Merged:
        """A merge in a process of its own. Raises GitFailed."""
        asked = ("merge-tree", *_OPTIONS, ours, theirs)
        done = self._git.run(*asked, ok=(0, 1), directory=self.attributes.directory)
        if not done.stdout:  # git 2.39 says 1 of a commit that is not there, too
            raise GitFailed(asked, done.returncode, done.stderr.decode(errors="replace"))
        answer = [b"1" if done.returncode == 0 else b"0", *done.stdout.split(b"\0")]
        return _read_answer(iter(answer))


def _read_answer(tokens: Iterator[bytes]) -> Merged:
    """Read one answer of ``merge-tree --stdin``: is it clean, the tree, the stages, the messages, an empty token."""
    clean = next(tokens) == b"1"
    tree = next(tokens).decode()
    if clean:
        next(tokens)
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
