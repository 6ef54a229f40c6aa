"""What the checks have read of a repository's blobs: the steps of a stack ask about the same ones again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar
from weakref import WeakKeyDictionary

from stackmerge.objects import Objects

_BYTES = 16_000_000
_FOUND = 40_000
T = TypeVar("T")


class Memory:
    """Blobs up to a number of bytes, and what was found in them up to a number of answers."""

    def __init__(self) -> None:
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._found: dict[Hashable, object] = {}

    def blob(self, objects: Objects, oid: str) -> bytes:
        """The content of a blob. Raises StackmergeError when it is missing."""
        data = self._blobs.get(oid)
        if data is not None:
            self._blobs.move_to_end(oid)
            return data
        data = self._blobs[oid] = objects.blob(oid)
        self._bytes += len(data)
        while self._bytes > _BYTES:
            self._bytes -= len(self._blobs.popitem(last=False)[1])
        return data

    def find(self, key: Hashable, look: Callable[[], T]) -> T:
        """The answer of ``look``, which is only asked once for each ``key``."""
        if key not in self._found:
            if len(self._found) >= _FOUND:
                self._found.clear()
            self._found[key] = look()
        return self._found[key]  # type: ignore[return-value]


_MEMORIES: WeakKeyDictionary[Objects, Memory] = WeakKeyDictionary()


def memory_of(objects: Objects) -> Memory:
    """The memory of one repository, as long as that is open."""
    found = _MEMORIES.get(objects)
    if found is None:
        found = _MEMORIES[objects] = Memory()
    return found
