"""A tree object's bytes, taken apart no further than needed: trees are large, and those of two steps differ in little.

An entry is ``<octal mode> <name>\\0<20 bytes of id>``; a tree is its entries one after the other, in git's order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

TREE_MODE = 0o040000
COMMIT_MODE = 0o160000
FILE_MODES = (0o100644, 0o100755)
_ENTRY = re.compile(rb"[^\0]+\0.{20}", re.DOTALL)
_PARTS = re.compile(rb"(\d+) ([^\0]+)\0(.{20})", re.DOTALL)
_FOLDERS = re.compile(rb"(?:(?!40000 )[^\0]+\0.{20})*+(?:40000 ([^\0]+)\0(.{20}))?", re.DOTALL)


class Entry(NamedTuple):
    """One entry of a tree, or one stage of a conflict."""

    mode: int
    oid: str

    @property
    def is_file(self) -> bool:
        return self.mode in FILE_MODES


def split(data: bytes) -> list[bytes]:
    """The entries of a tree, each as it stands there."""
    return _ENTRY.findall(data)


def by_name(entries: Iterable[bytes]) -> dict[bytes, Entry]:
    return {name: Entry(int(mode, 8), oid.hex()) for mode, name, oid in _PARTS.findall(b"".join(entries))}


def folders(data: bytes) -> list[tuple[bytes, str]]:
    """Names and ids of the folders in a tree."""
    return [(name, oid.hex()) for name, oid in _FOLDERS.findall(data) if name]


def like(data: bytes, name: bytes) -> Iterator[bytes]:
    """What looks like the entry ``name`` in a tree; if it is none of `split`, it is a part of an id."""
    wanted = b" %s\0" % name
    at = data.find(wanted)
    while at >= 0:
        for digits in (6, 5, 7):
            yield data[max(at - digits, 0) : at + len(wanted) + 20]
        at = data.find(wanted, at + 1)


def replaced(data: bytes, changes: Mapping[bytes, Entry | None]) -> bytes:
    """The tree with each name set to its entry, or removed where that is None."""
    entries = {entry[entry.index(b" ") + 1 : -21]: entry for entry in split(data)}
    in_order = True
    for name, entry in changes.items():
        if entry is None:
            entries.pop(name, None)
            continue
        was, entries[name] = entries.get(name, b""), _written(name, entry)
        in_order = in_order and _is_folder(was) == (entry.mode == TREE_MODE) and was != b""
    return b"".join(entries.values()) if in_order else _joined(entries)


def written(entries: Mapping[bytes, Entry]) -> bytes:
    """The bytes of a tree with these entries."""
    return _joined({name: _written(name, entry) for name, entry in entries.items()})


def _written(name: bytes, entry: Entry) -> bytes:
    return b"%o %s\0%s" % (entry.mode, name, bytes.fromhex(entry.oid))


def _is_folder(entry: bytes) -> bool:
    return entry.lstrip(b"0").startswith(b"40000 ")


def _joined(entries: Mapping[bytes, bytes]) -> bytes:
    """git orders a folder as if its name ended in a slash."""
    order = sorted(entries, key=lambda name: name + b"/" if _is_folder(entries[name]) else name)
    return b"".join([entries[name] for name in order])
