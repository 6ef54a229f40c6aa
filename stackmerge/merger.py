"""git's own merge, without a work tree.

``git merge-tree --write-tree`` makes the very tree that ``git merge`` would. One child that is asked over a pipe
serves a whole rebuild: its caches stay warm, and a merge takes a third of the time that a process of its own takes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property

from stackmerge.attributes import Attributes
from stackmerge.errors import StackmergeError
from stackmerge.git import Child, Git, GitFailed
from stackmerge.merge import Merged, read_answer
from stackmerge.objects import Commit, Objects, Person
from stackmerge.rawtree import Entry

FLUSHES_SINCE = (2, 49)
_PUSHING = 12  # files, which make 18 KB; C libraries have buffers of 1 to 16 KB
_PATIENCE = 5.0  # seconds to wait for the first byte of the first answer
_AHEAD = 16  # merges that git is told of; far fewer than a pipe holds
_OPTIONS = ("--write-tree", "-z", "--allow-unrelated-histories")
_NOBODY = Person.tool(0)
Pair = tuple[str, str]
"""The commits of one merge: ours, theirs."""


class Merger:
    """Merges commits of one repository, one at a time; git may be ahead of whoever asks.

    A merge can be begun while the caller still does other work, and those after it can be expected: git goes on to
    them by itself. Neither changes any answer. One child of git makes all merges; only where it cannot be spoken
    with, each is a process of its own.
    """

    def __init__(self, git: Git, objects: Objects, attributes: Attributes) -> None:
        self._git = git
        self._objects = objects
        self.attributes = attributes
        self._child: Child | None = None
        self._silent = False
        self._begun: deque[Pair] = deque()
        self._expected: deque[Pair] = deque()
        self._kept: dict[Pair, Merged] = {}

    def close(self) -> None:
        """End the child; what it has begun, nobody waits for."""
        if self._child:
            self._child.end(at_once=bool(self._begun))
            self._child = None
        self._begun.clear()

    def begin(self, ours: str, theirs: str) -> None:
        """Let git start on a merge that will be asked for; whatever is wrong with it shows then.

        If it was expected, git has done so, else whatever was expected in its place is given up.
        """
        if (ours, theirs) in self._begun or (ours, theirs) in self._kept:
            return
        if self._begun or self._expected:
            self.close()
            self._expected.clear()
            self._kept.clear()
        self._start(ours, theirs)

    def expect(self, pairs: Iterable[Pair]) -> None:
        """Let git go on to these merges after the one that was begun: they will probably be asked for in order."""
        self._expected.extend(pairs)
        self._go_on()

    def _go_on(self) -> None:
        """Tell git of more merges that are expected, as long as all have the attributes that are in force."""
        while self._child and self._expected and len(self._begun) < _AHEAD:
            ours, theirs = self._expected.popleft()
            if not self._same_attributes(ours):
                self._expected.clear()
            else:
                self._send(ours, theirs)

    def _same_attributes(self, ours: str) -> bool:
        try:
            return not self.attributes.differ(self._objects.commit(ours).tree)
        except StackmergeError:  # whatever is wrong shows when it is merged
            return False

    def merge(self, ours: str, theirs: str) -> Merged:
        """Merge commit ``theirs`` into commit ``ours``. Raises StackmergeError when git cannot merge at all."""
        asked = (ours, theirs)
        self._settle(until=asked)
        if asked in self._kept:
            self._use_attributes(self._objects.commit(ours).tree)
            return self._kept.pop(asked)
        if not self._begun:
            self._start(ours, theirs)
        merged = self._finish() if self._begun else self._alone(ours, theirs)
        self._go_on()
        return merged

    def _completed(self, merged: Merged, ours: str, theirs: str) -> Merged:
        """With what stands in both heads at the paths of conflicts that git left no stages of."""
        if all(conflict.staged for conflict in merged.conflicts):
            return merged
        trees = [self._objects.commit(head).tree for head in (ours, theirs)]
        found = []
        for conflict in merged.conflicts:
            if not conflict.staged:
                one, other = (self._objects.lookup(tree, conflict.path) for tree in trees)
                conflict = conflict._replace(ours=one, theirs=other)
            found.append(conflict)
        return merged._replace(conflicts=tuple(found))

    def merge_trees(self, base: str, ours: str, theirs: str) -> Merged:
        """Three-way merge of trees: what a cherry-pick is, and what the proof compares with."""
        return self.merge(*self._as_commits(base, ours, theirs))

    def _as_commits(self, base: str, ours: str, theirs: str) -> tuple[str, str]:
        root = self._objects.write_commit(Commit(base, (), _NOBODY, _NOBODY, "base\n"))
        a = self._objects.write_commit(Commit(ours, (root,), _NOBODY, _NOBODY, "ours\n"))
        b = self._objects.write_commit(Commit(theirs, (root,), _NOBODY, _NOBODY, "theirs\n"))
        return a, b

    def _settle(self, until: Pair) -> None:
        """Wait for the merges that were begun before ``until``, and keep the answers for whoever asks for them."""
        while self._begun and self._begun[0] != until:
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
            if self._begun:  # nothing is, where the child is gone
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
                read_answer(self._child.tokens())
            return self._completed(read_answer(self._child.tokens()), ours, theirs)
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
        return self._completed(read_answer(iter(answer)), ours, theirs)
