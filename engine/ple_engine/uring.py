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
    """An io_uring of `entries` reads. Raises OSError where the kernel has none or forbids it."""

    def __init__(self, entries: int = 2048) -> None:
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
        self.entries = int(sq_entries)
        ring_bytes = max(sq_offsets[6] + 4 * sq_entries, cq_offsets[5] + _CQE.itemsize * cq_entries)
        self._rings = mmap.mmap(self._fd, ring_bytes, flags=mmap.MAP_SHARED, offset=_OFF_SQ_RING)
        self._sqes_map = mmap.mmap(
            self._fd, _SQE.itemsize * sq_entries, flags=mmap.MAP_SHARED, offset=_OFF_SQES
        )
        self._sqes = np.frombuffer(self._sqes_map, _SQE)
        self._sq_tail = np.frombuffer(self._rings, "u4", 1, sq_offsets[1])
        array = np.frombuffer(self._rings, "u4", sq_entries, sq_offsets[6])
        array[:] = np.arange(sq_entries, dtype=np.uint32)
        self._cq_head = np.frombuffer(self._rings, "u4", 1, cq_offsets[0])
        self._cq_tail = np.frombuffer(self._rings, "u4", 1, cq_offsets[1])
        self._cqes = np.frombuffer(self._rings, _CQE, cq_entries, cq_offsets[5])
        self._sqes["opcode"] = _OP_READ
        self._sqes["user_data"] = np.arange(sq_entries)
        self._sqe_fd, self._sqe_length = self._sqes["fd"], self._sqes["length"]
        self._sqe_offset, self._sqe_address = self._sqes["offset"], self._sqes["address"]

    def read(self, fds: Any, offsets: Any, addresses: Any, length: int) -> Any:
        """Read `length` bytes at each offset of each file to each address; the result of each read, in order.

        A result is a byte count or a negative errno. The GIL is released while the reads run.
        """
        results = np.empty(len(offsets), np.int32)
        begin = 0
        while begin < len(offsets):
            slot = int(self._sq_tail[0]) % self.entries
            end = min(len(offsets), begin + self.entries - slot)
            slots = slice(slot, slot + end - begin)
            self._sqe_fd[slots], self._sqe_length[slots] = fds[begin:end], length
            self._sqe_offset[slots], self._sqe_address[slots] = offsets[begin:end], addresses[begin:end]
            self._sq_tail[0] = (int(self._sq_tail[0]) + end - begin) & 0xFFFFFFFF
            self._submit_and_wait(end - begin)
            self._collect(results[begin:end], slot)
            begin = end
        return results

    def _submit_and_wait(self, count: int) -> None:
        """Submit all, then wait for all: they write into the caller's memory, so none may be left behind."""
        submitted = 0
        while submitted < count:
            submitted += _call(_ENTER, self._fd, count - submitted, count, _ENTER_GETEVENTS, 0, 0)
        while (int(self._cq_tail[0]) - int(self._cq_head[0])) & 0xFFFFFFFF < count:
            _call(_ENTER, self._fd, 0, count, _ENTER_GETEVENTS, 0, 0)

    def _collect(self, results: Any, slot: int) -> None:
        """The results of the batch that began at `slot`; completions come in any order."""
        head, count = int(self._cq_head[0]), len(results)
        at = head % len(self._cqes)
        done = self._cqes[at : at + count]
        if len(done) < count:
            done = np.concatenate([done, self._cqes[: count - len(done)]])
        results[done["user_data"].astype(np.int64) - slot] = done["result"]
        self._cq_head[0] = (head + count) & 0xFFFFFFFF

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
