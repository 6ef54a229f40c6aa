"""The object database, in process: blobs, trees and commits as git stores them, through pygit2.

Paths are ``str`` with undecodable bytes as surrogates (``os.fsdecode``); object ids are lowercase hex.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pygit2

from stackmerge.errors import StackmergeError

TREE_MODE = 0o040000
COMMIT_MODE = 0o160000
FILE_MODES = (0o100644, 0o100755)
_KINDS = {
    b"commit": pygit2.GIT_OBJECT_COMMIT,
    b"tree": pygit2.GIT_OBJECT_TREE,
    b"blob": pygit2.GIT_OBJECT_BLOB,
    b"tag": pygit2.GIT_OBJECT_TAG,
}
_TREE_ENTRY = re.compile(rb"(\d+) ([^\0]+)\0(.{20})", re.DOTALL)
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def valid_name(name: bytes) -> bool:
    """May a tree have an entry of this name? A hostile one can climb, or reach into a repository."""
    return bool(name) and b"/" not in name and name.lower() not in (b".", b"..", b".git", b"git~1")


class Entry(NamedTuple):
    """One entry of a tree, or one stage of a conflict."""

    mode: int
    oid: str

    @property
    def is_file(self) -> bool:
        return self.mode in FILE_MODES


@dataclass(frozen=True)
class Person:
    """``Name <mail>`` with seconds since the epoch and a zone like ``+0200``."""

    who: str
    when: int
    zone: str

    @classmethod
    def parse(cls, text: str) -> Person:
        who, when, zone = text.rsplit(" ", 2)
        return cls(who, int(when), zone)

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

    def unsigned(self) -> Commit:
        """The same commit without a signature, which would not survive a change."""
        return replace(self, extra=tuple(p for p in self.extra if not p[0].startswith("gpgsig")))


Pair = tuple[Entry | None, Entry | None]


class Objects:
    """Reads and writes the objects of one repository."""

    def __init__(self, repository: pygit2.Repository, directory: Path | None = None) -> None:
        self._odb = repository.odb
        self._directory = directory or Path(repository.path) / "objects"
        self.tree = lru_cache(maxsize=2_000)(self._read_tree)
        self._places = lru_cache(maxsize=150)(self._read_places)
        self.commit = lru_cache(maxsize=20_000)(self._read_commit)
        self._differing = lru_cache(maxsize=2_000)(self._find_differing)
        self.raw_tree = lru_cache(maxsize=100)(self._read_raw_tree)  # enough for the trees of one step

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
            with Path(self._directory, oid[:2], oid[2:]).open("rb") as file:
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

    def _read_commit(self, oid: str) -> Commit:
        return Commit.parse(self.read(oid, pygit2.GIT_OBJECT_COMMIT))

    def parent_tree(self, oid: str) -> str:
        """The tree of a commit's first parent; the empty tree for a root commit."""
        parents = self.commit(oid).parents
        return self.commit(parents[0]).tree if parents else EMPTY_TREE

    def write_commit(self, commit: Commit) -> str:
        return self._write(pygit2.GIT_OBJECT_COMMIT, commit.serialise())

    def _read_tree(self, oid: str) -> Mapping[bytes, Entry]:
        """The entries of a tree, by name, in git's order."""
        return _by_name(self.raw_tree(oid))

    def _read_raw_tree(self, oid: str) -> Sequence[tuple[bytes, bytes, bytes]]:
        """The entries of a tree as git stores them: octal mode, name, binary id. Many times faster than `tree`."""
        data = b"" if oid == EMPTY_TREE else self.read(oid, pygit2.GIT_OBJECT_TREE)
        return _TREE_ENTRY.findall(data)

    def write_tree(self, entries: Mapping[bytes, Entry]) -> str:
        """Write a tree; git orders a directory as if its name ended in a slash."""
        order = sorted(entries, key=lambda name: name + (b"/" if entries[name].mode == TREE_MODE else b""))
        raw = b"".join(b"%o %s\0%s" % (entries[n].mode, n, bytes.fromhex(entries[n].oid)) for n in order)
        return self._write(pygit2.GIT_OBJECT_TREE, raw)

    def lookup(self, tree: str, path: str) -> Entry | None:
        """The entry at ``path`` in ``tree``, or None."""
        *folders, name = os.fsencode(path).split(b"/")
        for folder in folders:
            mode, raw = self._places(tree).get(folder, (b"", b""))
            if mode != b"40000":
                return None
            tree = raw.hex()
        mode, raw = self._places(tree).get(name, (b"", b""))
        return Entry(int(mode, 8), raw.hex()) if mode else None

    def _read_places(self, oid: str) -> Mapping[bytes, tuple[bytes, bytes]]:
        return {name: (mode, raw) for mode, name, raw in self.raw_tree(oid)}

    def edit(self, tree: str, changes: Mapping[str, Entry | None]) -> str:
        """The tree with each path set to its entry, or removed where that is None."""
        if not changes:
            return tree
        return self._edit(
            tree, {tuple(os.fsencode(path).split(b"/")): entry for path, entry in changes.items()}
        )

    def _edit(self, tree: str, changes: Mapping[tuple[bytes, ...], Entry | None]) -> str:
        entries = dict(self.tree(tree))
        below: dict[bytes, dict[tuple[bytes, ...], Entry | None]] = {}
        for (name, *rest), entry in changes.items():
            if rest:
                below.setdefault(name, {})[tuple(rest)] = entry
            elif entry is None:
                entries.pop(name, None)
            else:
                entries[name] = entry
        for name, inner in below.items():
            old = entries.get(name)
            sub = self._edit(old.oid if old and old.mode == TREE_MODE else EMPTY_TREE, inner)
            if sub != EMPTY_TREE:
                entries[name] = Entry(TREE_MODE, sub)
            elif old and old.mode == TREE_MODE:
                del entries[name]
        return self.write_tree(entries) if entries else EMPTY_TREE

    def invalid_path(self, old: str, new: str) -> str:
        """A path that ``new`` has, ``old`` has not, and git refuses to check out; empty where there is none."""
        before = self.raw_tree(old)
        for mode, name, raw in sorted(set(self.raw_tree(new)).difference(before)):
            path = os.fsdecode(name)
            if not valid_name(name):
                return path
            if mode == b"40000":
                folder = next((was.hex() for m, n, was in before if n == name and m == mode), EMPTY_TREE)
                inner = self.invalid_path(folder, raw.hex())
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
        first, second = set(self.raw_tree(old)), set(self.raw_tree(new))
        before, after = _by_name(first - second), _by_name(second - first)
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


def _by_name(raw: Iterable[tuple[bytes, bytes, bytes]]) -> dict[bytes, Entry]:
    return {name: Entry(int(mode, 8), oid.hex()) for mode, name, oid in raw}
