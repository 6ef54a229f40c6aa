"""Many reads in flight from one thread: Linux io_uring, driven with raw system calls.

Layouts and numbers: linux/io_uring.h. The ring is private to one thread and every submission waits for all
of its completions, so ring indices need no barrier beyond the system call itself.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import struct
import sys
from typing import Any

import numpy as np

_SETUP, _ENTER = 425, 426
_OP_READ = 22
_ENTER_GETEVENTS = 1
_OFF_SQ_RING, _OFF_SQES = 0, 0x10000000
_FEAT_SINGLE_MMAP = 1
_MASK32 = 0xFFFFFFFF
_SQE = np.dtype(
    {
        "names": ["opcode", "fd", "offset", "address", "length", "user_data"],
        "formats": ["u1", "i4", "u8", "u8", "u4", "u8"],
        "offsets": [0, 4, 8, 16, 24, 32],
        "itemsize": 64,
    }
)
_CQE = np.dtype([("user_data", "u8"), ("result", "i4"), ("flags", "u4")])
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.argtypes = [ctypes.c_long] * 7
_libc.syscall.restype = ctypes.c_long


class Ring:
    """An io_uring for reads of `length` bytes. Raises OSError where the kernel has none or forbids it."""

    def __init__(self, length: int, entries: int = 2048) -> None:
        if not sys.platform.startswith("linux"):
            raise OSError(errno.ENOSYS, "io_uring needs Linux")
        params = ctypes.create_string_buffer(120)
        self._fd = _call(_SETUP, entries, ctypes.addressof(params))
        sq_entries, cq_entries, _, _, _, features = struct.unpack_from("6I", params, 0)
        sq_offsets = struct.unpack_from("7I", params, 40)
        cq_offsets = struct.unpack_from("6I", params, 80)
        if not features & _FEAT_SINGLE_MMAP:
            os.close(self._fd)
            raise OSError(errno.ENOSYS, "io_uring here is older than Linux 5.4")
        ring_bytes = max(sq_offsets[6] + 4 * sq_entries, cq_offsets[5] + _CQE.itemsize * cq_entries)
        rings = mmap.mmap(self._fd, ring_bytes, flags=mmap.MAP_SHARED, offset=_OFF_SQ_RING)
        self._map_submissions(rings, sq_entries, sq_offsets, length)
        self._map_completions(rings, cq_entries, cq_offsets)

    def _map_submissions(self, rings: mmap.mmap, entries: int, offsets: tuple[int, ...], length: int) -> None:
        """What never changes is written once: the operation, the length, and each slot's own number."""
        sqes_map = mmap.mmap(self._fd, _SQE.itemsize * entries, flags=mmap.MAP_SHARED, offset=_OFF_SQES)
        sqes = np.frombuffer(sqes_map, _SQE)
        sqes["opcode"], sqes["length"], sqes["user_data"] = _OP_READ, length, np.arange(entries)
        np.frombuffer(rings, "u4", entries, offsets[6])[:] = np.arange(entries)
        self._length, self._entries, self._tail = length, entries, 0
        self._sq_tail = np.frombuffer(rings, "u4", 1, offsets[1])
        self._sqe_fd, self._sqe_offset, self._sqe_address = sqes["fd"], sqes["offset"], sqes["address"]

    def _map_completions(self, rings: mmap.mmap, entries: int, offsets: tuple[int, ...]) -> None:
        self._cqes, self._head = np.frombuffer(rings, _CQE, entries, offsets[5]), 0
        self._cq_head, self._cq_tail = (np.frombuffer(rings, "u4", 1, offset) for offset in offsets[:2])
        self._cqe_result, self._cqe_slot = self._cqes["result"], self._cqes["user_data"]

    def read(self, fds: Any, offsets: Any, addresses: Any) -> list[int]:
        """Read at each offset of each file to each address; which of the reads failed or fell short.

        The GIL is released while the reads run.
        """
        wrong: list[int] = []
        begin = 0
        while begin < len(offsets):
            slot, at = self._tail % self._entries, self._head % len(self._cqes)
            count = min(len(offsets) - begin, self._entries - slot, len(self._cqes) - at)
            slots, part = slice(slot, slot + count), slice(begin, begin + count)
            self._sqe_fd[slots] = fds[part]
            self._sqe_offset[slots] = offsets[part]
            self._sqe_address[slots] = addresses[part]
            self._submit_and_wait(count)
            done = slice(at, at + count)
            complete = self._cqe_result[done] == self._length
            if not complete.all():
                wrong += (begin + self._cqe_slot[done][~complete].astype(int) - slot).tolist()
            self._head = (self._head + count) & _MASK32
            self._cq_head[0] = self._head
            begin += count
        return wrong

    def _submit_and_wait(self, count: int) -> None:
        """Submit all, then wait for all: they write into the caller's memory, so none may be left behind."""
        self._tail = (self._tail + count) & _MASK32
        self._sq_tail[0] = self._tail
        submitted = 0
        while submitted < count:
            submitted += _call(_ENTER, self._fd, count - submitted, count, _ENTER_GETEVENTS, 0, 0)
        while (int(self._cq_tail[0]) - self._head) & _MASK32 < count:
            _call(_ENTER, self._fd, 0, count, _ENTER_GETEVENTS, 0, 0)

    def close(self) -> None:
        os.close(self._fd)


def _call(number: int, *arguments: int) -> int:
    while True:
        result = int(_libc.syscall(number, *arguments, *([0] * (6 - len(arguments)))))
        if result >= 0:
            return result
        code = ctypes.get_errno()
        if code not in (errno.EINTR, errno.EAGAIN, errno.EBUSY):
            raise OSError(code, f"io_uring: {os.strerror(code)}")
