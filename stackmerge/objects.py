"""The object database, in process: blobs, trees and commits as git stores them, through pygit2.

Paths are ``str`` with undecodable bytes as surrogates (``os.fsdecode``); object ids are lowercase hex.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from stackmerge import rawtree
from stackmerge.errors import StackmergeError
from stackmerge.libgit2 import pygit2
from stackmerge.rawtree import TREE_MODE, Entry

_KINDS = {
    b"commit": pygit2.GIT_OBJECT_COMMIT,
    b"tree": pygit2.GIT_OBJECT_TREE,
    b"blob": pygit2.GIT_OBJECT_BLOB,
    b"tag": pygit2.GIT_OBJECT_TAG,
}
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def valid_name(name: bytes) -> bool:
    """May a tree have an entry of this name? A hostile one can climb, or reach into a repository."""
    return bool(name) and b"/" not in name and name.lower() not in (b".", b"..", b".git", b"git~1")


class Person(NamedTuple):
    """``Name <mail>`` with seconds since the epoch and a zone like ``+0200``."""

    who: str
    when: int
    zone: str

    @classmethod
    def parse(cls, text: str) -> Person:
        """A header of a commit. One without a date, which git takes to be of the year 1970, has its text as ``who``."""
        found = re.fullmatch(r"(.*>) (-?\d+) ([+-]\d+)", text, re.DOTALL)
        return cls(found[1], int(found[2]), found[3]) if found else cls(text, 0, "+0000")

    @classmethod
    def tool(cls, when: float) -> Person:
        """stackmerge itself, as the writer of its own records."""
        return cls("stackmerge <stackmerge@localhost>", int(when), "+0000")

    def __str__(self) -> str:
        return f"{self.who} {self.when} {self.zone}"


@dataclass(frozen=True)
class Commit:
    """A commit object, header by header; ``extra`` keeps the headers that are not interpreted."""

    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str
    extra: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, raw: bytes) -> Commit:
        head, _, message = raw.decode("utf-8", "surrogateescape").partition("\n\n")
        pairs = [line.split(" ", 1) for line in head.replace("\n ", "\0").split("\n")]
        headers = [(key, value.replace("\0", "\n ")) for key, value in pairs]
        known = dict(headers)
        return cls(
            tree=known["tree"],
            parents=tuple(value for key, value in headers if key == "parent"),
            author=Person.parse(known["author"]),
            committer=Person.parse(known["committer"]),
            message=message,
            extra=tuple(pair for pair in headers if pair[0] not in ("tree", "parent", "author", "committer")),
        )

    def serialise(self) -> bytes:
        lines = [f"tree {self.tree}", *(f"parent {p}" for p in self.parents)]
        lines += [f"author {self.author}", f"committer {self.committer}"]
        lines += [f"{key} {value}" for key, value in self.extra]
        return ("\n".join(lines) + "\n\n" + self.message).encode("utf-8", "surrogateescape")

    @property
    def subject(self) -> str:
        return self.message.strip().partition("\n")[0]

    def with_parents(self, parents: tuple[str, ...]) -> Commit:
        """The same commit on other parents: without a signature, and without the tags of heads that it had."""
        lost = ("gpgsig",) if parents[1:] == self.parents[1:] else ("gpgsig", "mergetag")
        extra = tuple(pair for pair in self.extra if not pair[0].startswith(lost))
        return replace(self, parents=parents, extra=extra)


Pair = tuple[Entry | None, Entry | None]


class Objects:
    """Reads and writes the objects of one repository."""

    def __init__(self, repository: pygit2.Repository, directory: Path | None = None) -> None:
        self._odb = repository.odb
        self._directory = str(directory or Path(repository.path) / "objects")
        self.commit = lru_cache(maxsize=20_000)(self._read_commit)
        self._raw = lru_cache(maxsize=250)(self._read_raw)  # enough for the trees of a few steps
        self._entries = lru_cache(maxsize=250)(self._read_entries)
        self._changed = lru_cache(maxsize=150)(self._find_changed)
        self._differing = lru_cache(maxsize=250)(self._find_differing)

    def read(self, oid: str, kind: int) -> bytes:
        """The content of an object. Raises StackmergeError when it is missing or of another kind."""
        try:
            found, data = self._read_loose(oid) or self._odb.read(oid)
        except (KeyError, ValueError, zlib.error, pygit2.GitError) as error:
            raise StackmergeError(
                f"object {oid} is missing or damaged", "run `git fsck` in the repository"
            ) from error
        if int(found) != kind:
            raise StackmergeError(
                f"object {oid} is not what its reference says", "run `git fsck` in the repository"
            )
        return bytes(data)

    def _read_loose(self, oid: str) -> tuple[int, bytes] | None:
        """An object in a file of its own, read here: libgit2 never comes back from one that was cut short."""
        try:
            with open(f"{self._directory}/{oid[:2]}/{oid[2:]}", "rb", buffering=0) as file:  # noqa: PTH123, pathlib takes longer
                data = zlib.decompress(file.read())
        except OSError:
            return None
        if hashlib.sha1(data, usedforsecurity=False).hexdigest() != oid:
            raise ValueError(oid)
        header, _, body = data.partition(b"\0")
        return _KINDS[header.partition(b" ")[0]], body

    def _write(self, kind: int, data: bytes) -> str:
        try:
            return str(self._odb.write(kind, data))
        except (pygit2.GitError, OSError) as error:
            raise StackmergeError(
                f"cannot write to the object database: {error}", "is the disk full?"
            ) from error

    def blob(self, oid: str) -> bytes:
        return self.read(oid, pygit2.GIT_OBJECT_BLOB)

    def write_blob(self, data: bytes) -> str:
        return self._write(pygit2.GIT_OBJECT_BLOB, data)

    # -- commits

    def _read_commit(self, oid: str) -> Commit:
        return Commit.parse(self.read(oid, pygit2.GIT_OBJECT_COMMIT))

    def parent_tree(self, oid: str) -> str:
        """The tree of a commit's first parent; the empty tree for a root commit."""
        parents = self.commit(oid).parents
        return self.commit(parents[0]).tree if parents else EMPTY_TREE

    def write_commit(self, commit: Commit) -> str:
        return self._write(pygit2.GIT_OBJECT_COMMIT, commit.serialise())

    # -- trees

    def _read_raw(self, oid: str) -> bytes:
        return b"" if oid == EMPTY_TREE else self.read(oid, pygit2.GIT_OBJECT_TREE)

    def _read_entries(self, oid: str) -> frozenset[bytes]:
        return frozenset(rawtree.split(self._raw(oid)))

    def tree(self, oid: str) -> Mapping[bytes, Entry]:
        """The entries of a tree, by name, in git's order."""
        return rawtree.by_name(rawtree.split(self._raw(oid)))

    def folders(self, oid: str) -> list[tuple[bytes, str]]:
        """Names and ids of the folders in a tree."""
        return rawtree.folders(self._raw(oid))

    def entry(self, oid: str, name: bytes) -> Entry | None:
        """The entry ``name`` of a tree, or None."""
        for looks_like_it in rawtree.like(self._raw(oid), name):
            found = rawtree.by_name([looks_like_it]) if looks_like_it in self._entries(oid) else {}
            if name in found:
                return found[name]
        return None

    def lookup(self, tree: str, path: str) -> Entry | None:
        """The entry at ``path`` in ``tree``, or None."""
        *folders, name = os.fsencode(path).split(b"/")
        for folder in folders:
            entry = self.entry(tree, folder)
            if entry is None or entry.mode != TREE_MODE:
                return None
            tree = entry.oid
        return self.entry(tree, name)

    def write_tree(self, entries: Mapping[bytes, Entry]) -> str:
        return self._write(pygit2.GIT_OBJECT_TREE, rawtree.written(entries))

    def edit(self, tree: str, changes: Mapping[str, Entry | None]) -> str:
        """The tree with each path set to its entry, or removed where that is None."""
        if not changes:
            return tree
        return self._edit(
            tree, {tuple(os.fsencode(path).split(b"/")): entry for path, entry in changes.items()}
        )

    def _edit(self, tree: str, changes: Mapping[tuple[bytes, ...], Entry | None]) -> str:
        new: dict[bytes, Entry | None] = {}
        below: dict[bytes, dict[tuple[bytes, ...], Entry | None]] = {}
        for (name, *rest), entry in changes.items():
            if rest:
                below.setdefault(name, {})[tuple(rest)] = entry
            else:
                new[name] = entry
        for name, inner in below.items():
            old = new[name] if name in new else self.entry(tree, name)
            is_folder = old is not None and old.mode == TREE_MODE
            sub = self._edit(old.oid if old and is_folder else EMPTY_TREE, inner)
            if sub != EMPTY_TREE:
                new[name] = Entry(TREE_MODE, sub)
            elif is_folder:
                new[name] = None
        edited = rawtree.replaced(self._raw(tree), new)
        return self._write(pygit2.GIT_OBJECT_TREE, edited) if edited else EMPTY_TREE

    # -- what differs between trees

    def _find_changed(self, old: str, new: str) -> tuple[Mapping[bytes, Entry], Mapping[bytes, Entry]]:
        """The entries of two trees that are not the same in the other, by name."""
        before, after = self._entries(old), self._entries(new)
        return rawtree.by_name(before - after), rawtree.by_name(after - before)

    def invalid_path(self, old: str, new: str) -> str:
        """A path that ``new`` has, ``old`` has not, and git refuses to check out; empty where there is none."""
        before, after = self._changed(old, new)
        for name in sorted(after):
            path = os.fsdecode(name)
            if not valid_name(name):
                return path
            if after[name].mode == TREE_MODE:
                was = before.get(name)
                folder = was.oid if was and was.mode == TREE_MODE else EMPTY_TREE
                inner = self.invalid_path(folder, after[name].oid)
                if inner:
                    return f"{path}/{inner}"
        return ""

    def diff(self, old: str, new: str) -> dict[str, Pair]:
        """Every path that differs between two trees (no rename detection), with both its entries."""
        return dict(self._differing(old, new))

    def _find_differing(self, old: str, new: str) -> tuple[tuple[str, Pair], ...]:
        """As `diff`. Of directories it is remembered: the trees of a stack's steps differ in few of them."""
        if old == new:
            return ()
        before, after = self._changed(old, new)
        found: list[tuple[str, Pair]] = []
        for name in before.keys() | after.keys():
            a, b, path = before.get(name), after.get(name), os.fsdecode(name)
            a_tree = a.oid if a and a.mode == TREE_MODE else ""
            b_tree = b.oid if b and b.mode == TREE_MODE else ""
            if a_tree or b_tree:
                inner = self._differing(a_tree or EMPTY_TREE, b_tree or EMPTY_TREE)
                found += [(f"{path}/{rest}", pair) for rest, pair in inner]
            a_leaf, b_leaf = (None if a_tree else a), (None if b_tree else b)
            if a_leaf != b_leaf:
                found.append((path, (a_leaf, b_leaf)))
        return tuple(found)
