"""``.gitattributes`` of a tree, for merges that have no work tree.

git reads attributes from a work tree only. So a private directory holds the ``.gitattributes`` files of the
tree that is merged into, and nothing else; every git from 2.39 on reads them there, and no index is asked.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from stackmerge.errors import StackmergeError
from stackmerge.git import Child, Git
from stackmerge.objects import Objects, valid_name

_LINE_ENDS = ("text", "eol")
_CONTENT = ("filter", "ident", "working-tree-encoding")
_FILE = b".gitattributes"
# As C's atoi reads it, but for numbers that it cannot hold.
_SIZE = re.compile(r"[ \t]*\+?0*([0-9]{1,9})(?![0-9])")
_ASKED = ("conflict-marker-size", "merge", *_LINE_ENDS, *_CONTENT)


class PathAttributes(NamedTuple):
    """What matters of one path's attributes.

    ``converts``: a checkout may write other bytes than the blob's; ``only_cr``: and then only carriage returns matter.
    ``keeps_cr``: git add leaves the line ends of a file alone that has carriage returns in the index.
    """

    marker_size: int = 7
    merge: str = "unspecified"
    converts: bool = False
    only_cr: bool = False
    keeps_cr: bool = False

    @classmethod
    def of(cls, values: Mapping[str, str], converts: bool) -> PathAttributes:
        size = _SIZE.match(values.get("conflict-marker-size", ""))
        given = {name for name, value in values.items() if value != "unspecified"}
        return cls(
            marker_size=(int(size[1]) if size else 0) or 7,
            merge=values.get("merge", "unspecified"),
            converts=converts or not given.isdisjoint((*_LINE_ENDS, *_CONTENT)),
            only_cr=not converts
            and given.isdisjoint(_CONTENT)
            and values.get("eol", "") != "crlf"
            and os.linesep == "\n",
            keeps_cr=given.isdisjoint(_CONTENT)
            and (values.get("text") == "auto" or (converts and given.isdisjoint(_LINE_ENDS))),
        )

    def leave(self, data: bytes) -> bool:
        """Are these bytes the same in a blob and in a checked-out file?"""
        return not self.converts or (self.only_cr and b"\r" not in data)


class Attributes:
    """The attributes in force for a merge; ``use`` names the tree that they come from."""

    def __init__(self, git: Git, objects: Objects) -> None:
        self._git = git
        self._objects = objects
        self._sources = lru_cache(maxsize=100_000)(self._find_sources)
        self._current: tuple[tuple[bytes, str], ...] | None = None
        self._tree = ""
        self._child: Child | None = None
        self._of_result: Attributes | None = None
        self._temporary = tempfile.TemporaryDirectory(prefix="stackmerge-attributes-")
        self.directory = Path(self._temporary.name).resolve()

    def close(self) -> None:
        if self._of_result:
            self._of_result.close()
        self._end_child()
        self._temporary.cleanup()

    def _end_child(self) -> None:
        if self._child:
            self._child.end()
            self._child = None

    @property
    def in_force(self) -> bool:
        """Are any in force yet, be it none at all?"""
        return self._current is not None

    def differ(self, tree: str) -> bool:
        """Has ``tree`` other attributes than those in force?"""
        changed = self._objects.diff(self._tree, tree)
        if any(path.rpartition("/")[2] == ".gitattributes" for path in changed):
            return self._sources(tree) != self._current
        self._tree = tree
        return False

    def use(self, tree: str) -> bool:
        """Put the attributes of ``tree`` in force; True when they differ from those before."""
        if self.in_force and not self.differ(tree):
            return False
        wanted = self._sources(tree)
        self._end_child()
        shutil.rmtree(self.directory)
        self.directory.mkdir(mode=0o700)
        for path, oid in wanted:
            file = self.directory / os.fsdecode(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self._objects.blob(oid))
        self._current, self._tree = wanted, tree
        return True

    def checked_out(self, tree: str) -> Attributes:
        """Those that git writes the result ``tree`` of a merge with: these, or where the merge brings some, its own."""
        if not self.differ(tree):
            return self
        if self._of_result is None:
            self._of_result = Attributes(self._git, self._objects)
        self._of_result.use(tree)
        return self._of_result

    def _find_sources(self, tree: str) -> tuple[tuple[bytes, str], ...]:
        own = self._objects.entry(tree, _FILE)
        found = [(_FILE, own.oid)] if own and own.mode & 0o170000 == 0o100000 else []
        for name, folder in self._objects.folders(tree):
            if valid_name(name):
                found += [(name + b"/" + path, oid) for path, oid in self._sources(folder)]
        return tuple(found)

    @cached_property
    def _configured(self) -> bytes:
        """What is configured of line ends, drivers and filters, as git lists it: ``name LF value NUL`` each."""
        names = r"^core\.(autocrlf|eol|attributesfile)$|^merge\..*\.(driver|recursive)$|^filter\."
        return self._git.run("config", "-z", "--get-regexp", names, ok=(0, 1)).stdout

    @cached_property
    def _converts(self) -> bool:
        """Does the configuration change line ends by itself?"""
        values = re.findall(rb"(?:^|\0)core\.(?:autocrlf|eol)\n?([^\0]*)", self._configured)
        return any(value.lower() not in (b"false", b"lf", b"native") for value in values)

    @cached_property
    def settings(self) -> str:
        """A digest of what decides beside the trees: line ends, drivers and filters, and attributes of this machine."""
        named = re.findall(rb"(?:^|\0)core\.attributesfile\n([^\0]+)", self._configured)
        own = Path(os.fsdecode(named[-1])).expanduser() if named else _xdg() / "git" / "attributes"
        found = hashlib.sha256(self._configured)
        for file in (self._git.git_dir / "info" / "attributes", own):
            with suppress(OSError):
                found.update(b"\0" + file.read_bytes())
        return found.hexdigest()[:16]

    def of(self, paths: Iterable[str]) -> dict[str, PathAttributes]:
        """The attributes of each path, asked of one git as long as the same are in force."""
        found: dict[str, PathAttributes] = {}
        for path in paths:
            try:
                values = self._ask(path)
            except (OSError, EOFError) as error:
                self._end_child()
                raise StackmergeError(
                    f"git check-attr ended while asked about {path!r}", "run it again"
                ) from error
            found[path] = PathAttributes.of(values, self._converts)
        return found

    def _ask(self, path: str) -> dict[str, str]:
        if self._child is None:
            self._child = self._git.child("check-attr", "-z", "--stdin", *_ASKED, directory=self.directory)
        self._child.ask(os.fsencode(path) + b"\0")
        fields = [self._child.token() for _ in range(3 * len(_ASKED))]
        return {
            name.decode(): value.decode(errors="replace")
            for name, value in zip(fields[1::3], fields[2::3], strict=True)
        }

    def smudged(self, path: str, oid: str, attributes: PathAttributes) -> bytes:
        """The bytes of blob ``oid`` as a checkout would write them at ``path``."""
        data = self._objects.blob(oid)
        if attributes.leave(data):
            return data
        done = self._git.run("cat-file", "--filters", f"--path={path}", oid, directory=self.directory)
        return done.stdout

    def cleaned(self, path: str, data: bytes, attributes: PathAttributes, ours: bytes = b"") -> str:
        """Write the blob that ``git add`` would make of a file ``path`` with these bytes; its id.

        ``ours`` is what stands there: its line ends decide where git is to find out by itself (git's `convert.c`).
        """
        if attributes.leave(data) or (attributes.keeps_cr and _has_crlf(ours)):
            return self._objects.write_blob(data)
        done = self._git.run(
            "hash-object", "-w", "--stdin", f"--path={path}", stdin=data, directory=self.directory
        )
        return done.stdout.decode().strip()


def _has_crlf(data: bytes) -> bool:
    """Does a text have line ends of Windows? One with a lone carriage return or a zero byte is none."""
    count = data.count(b"\r\n")
    return bool(count) and count == data.count(b"\r") and b"\0" not in data


def _xdg() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
