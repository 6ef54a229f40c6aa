"""git's own merge, without a work tree.

``git merge-tree --write-tree`` makes the very tree that ``git merge`` would. From git 2.49 on it answers over
a pipe as it goes, so one child serves a whole rebuild; an older git gets one process per merge.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

from stackmerge.attributes import Attributes
from stackmerge.errors import StackmergeError
from stackmerge.git import Git, read_until_nul
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
    """Merges commits of one repository."""

    def __init__(self, git: Git, objects: Objects, attributes: Attributes) -> None:
        self._git = git
        self._objects = objects
        self.attributes = attributes
        self._child: subprocess.Popen[bytes] | None = None
        self._buffer = bytearray()

    def close(self) -> None:
        if self._child:
            self._child.communicate()
            self._child = None
        self._buffer.clear()

    def merge(self, ours: str, theirs: str) -> Merged:
        """Merge commit ``theirs`` into commit ``ours``. Raises StackmergeError when git cannot merge at all."""
        changed = self.attributes.use(self._objects.commit(ours).tree)
        if self._git.version[:2] < PIPE_SINCE:
            return self._merge_once(ours, theirs)
        if changed:
            self.close()
        return self._merge_piped(ours, theirs)

    def merge_trees(self, base: str, ours: str, theirs: str) -> Merged:
        """Three-way merge of trees: what a cherry-pick is, and what the proof compares with."""
        root = self._objects.write_commit(Commit(base, (), _NOBODY, _NOBODY, "base\n"))
        a = self._objects.write_commit(Commit(ours, (root,), _NOBODY, _NOBODY, "ours\n"))
        b = self._objects.write_commit(Commit(theirs, (root,), _NOBODY, _NOBODY, "theirs\n"))
        return self.merge(a, b)

    def _merge_once(self, ours: str, theirs: str) -> Merged:
        options = ("--write-tree", "-z", "--allow-unrelated-histories")
        done = self._git.run(
            "merge-tree", *options, ours, theirs, ok=(0, 1), directory=self.attributes.directory
        )
        tokens = iter(done.stdout.split(b"\0"))
        return _read_answer(tokens, clean=done.returncode == 0)

    def _merge_piped(self, ours: str, theirs: str) -> Merged:
        if self._child is None:
            options = ("--write-tree", "--stdin", "--allow-unrelated-histories")
            self._child = self._git.child("merge-tree", *options, directory=self.attributes.directory)
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(f"{ours} {theirs}\n".encode())
            self._child.stdin.flush()
            tokens = self._tokens()
            clean = next(tokens) == b"1"
            merged = _read_answer(tokens, clean=clean)
            if clean:
                next(tokens)  # the empty token that ends every answer; _read_kinds has it otherwise
        except (BrokenPipeError, EOFError) as error:
            self.close()
            raise StackmergeError(f"git merge-tree ended while merging {theirs}", "run it again") from error
        return merged

    def _tokens(self) -> Iterator[bytes]:
        assert self._child is not None
        assert self._child.stdout is not None
        while True:
            yield read_until_nul(self._child.stdout, self._buffer)


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
