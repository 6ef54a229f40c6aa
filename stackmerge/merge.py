"""What git's own merge says: the tree that it made, and what it left in conflict.

The answers are those of ``git merge-tree --write-tree -z``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from stackmerge.rawtree import Entry


class Conflict(NamedTuple):
    """One path that git left unmerged, with its stages and git's words for it.

    Of some conflicts, such as a directory that was renamed to two others, git only tells, and leaves no stages. Such a
    one has ``staged`` False, no ``base``, and what stands at its path in either head: two that agree are the same.
    """

    path: str
    kind: str
    base: Entry | None = None
    ours: Entry | None = None
    theirs: Entry | None = None
    staged: bool = True

    @property
    def is_text(self) -> bool:
        """rerere looks at a path when stages 2 and 3 are regular files (RERERE.md)."""
        sides = self.ours and self.ours.is_file and self.theirs and self.theirs.is_file
        return self.staged and bool(sides) and (self.base is None or self.base.is_file)


class Merged(NamedTuple):
    """The tree of a merge, conflict markers included, and what conflicted."""

    tree: str
    conflicts: tuple[Conflict, ...] = ()


def read_answer(tokens: Iterator[bytes]) -> Merged:
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
    told = list(_read_told(tokens))
    kinds: dict[str, list[str]] = {}
    for paths, kind in told:
        for one in paths:
            kinds.setdefault(one, []).append(kind)
    found = [
        Conflict(name, _kind(kinds.get(name, []), at), at.get(1), at.get(2), at.get(3))
        for name, at in stages.items()
    ]
    only_told = dict.fromkeys((paths[0], kind) for paths, kind in told if not stages.keys() & set(paths))
    found += [Conflict(name, kind, staged=False) for name, kind in only_told]
    return Merged(tree, tuple(found) or (Conflict("", "unknown", staged=False),))


def _read_told(tokens: Iterator[bytes]) -> Iterator[tuple[list[str], str]]:
    """The conflicts that git tells of: the paths and the kind of each.

    git ends the list with an empty token, or, where a submodule conflicts, with advice in prose.
    """
    while (count := next(tokens, b"")).isdigit():
        paths = [os.fsdecode(next(tokens)) for _ in range(int(count))]
        said = re.fullmatch(rb"CONFLICT ?\((.*)\)", next(tokens))
        next(tokens)
        if said and paths:
            yield paths, said[1].decode()


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
