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
