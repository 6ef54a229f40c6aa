"""Reading scattered rows: all of a fill's reads in flight at once, straight into the staging memory."""

from __future__ import annotations

import ctypes
import errno
import os
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ple_engine.shards import RowSource
from ple_engine.uring import Ring

IO_URING_ENV = "FREETOKEN_PLE_IO_URING"
_POOL_THREADS = 32
_RINGS, _RING_SHARE = 4, 256
_SORT_FROM = 256  # fewer reads than this are all in flight at once, so their order on disk does not matter


class _Batch(Protocol):
    name: str

    def read(self, fds: Any, offsets: Any, addresses: Any) -> list[int]:
        """Read a row each; which of them failed or fell short."""

    def close(self) -> None: ...


class RowReader:
    """Reads rows of a `RowSource`: by io_uring where the kernel allows it, else by a pool of threads."""

    def __init__(self, source: RowSource, *, io_uring: bool | None = None) -> None:
        self._row_bytes = source.head_dim
        self._rows_per_shard = source.rows_per_shard
        self._paths = source.paths
        self._fds = [_open_for_scattered_reads(path) for path in self._paths]
        file_of = {path: i for i, path in enumerate(self._paths)}
        self._shard_file = np.array([file_of[shard.path] for shard in source.shards])
        self._shard_fd = np.array(self._fds, dtype=np.int32)[self._shard_file]
        # where row 0 of the table would lie, if a shard's file held the shards before it too
        before = np.arange(len(source.shards)) * source.rows_per_shard * self._row_bytes
        self._row_zero = np.array([shard.base for shard in source.shards], dtype=np.int64) - before
        self._batch = _choose(self._row_bytes, io_uring)

    @property
    def backend(self) -> str:
        """`io_uring` or `threads`."""
        return self._batch.name

    def read(self, rows: Any, addresses: Any) -> None:
        """Read row `rows[i]` to memory at `addresses[i]`, both int64. Raises OSError with the file's name."""
        if len(rows) >= _SORT_FROM:
            order = np.argsort(rows)
            rows, addresses = rows[order], addresses[order]
        shards = rows // self._rows_per_shard
        offsets = rows * self._row_bytes + self._row_zero[shards]
        fds = self._shard_fd[shards]
        for i in self._batch.read(fds, offsets, addresses):
            path = self._paths[self._shard_file[shards[i]]]
            self._read_again(int(fds[i]), int(offsets[i]), int(addresses[i]), path)

    def _read_again(self, fd: int, offset: int, address: int, path: Any) -> None:
        """A short or failed read, once more and plainly: succeed or raise what is really wrong."""
        view, done = _memory(address, self._row_bytes), 0
        try:
            while done < self._row_bytes:
                count = os.preadv(fd, [view[done:]], offset + done)
                if count == 0:
                    raise OSError(errno.EIO, "the file ends inside a row; it was cut after it was opened")
                done += count
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror} (row at byte {offset})", str(path)) from error

    def close(self) -> None:
        self._batch.close()
        for fd in self._fds:
            os.close(fd)
        self._fds = []


def _open_for_scattered_reads(path: Path) -> int:
    fd = os.open(path, os.O_RDONLY)
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)  # read ahead of a row is read in vain
    return fd


def _choose(row_bytes: int, io_uring: bool | None) -> _Batch:
    if io_uring is None:
        io_uring = os.environ.get(IO_URING_ENV, "1") != "0"
    if io_uring:
        try:
            return _UringBatch(row_bytes)
        except OSError:  # an old kernel, or a container that forbids it
            pass
    return _PoolBatch(row_bytes)


class _UringBatch:
    """Reads of files in the page cache are copies made in the system call, so long batches go to several rings."""

    name = "io_uring"

    def __init__(self, row_bytes: int) -> None:
        self._rings = [Ring(row_bytes) for _ in range(min(_RINGS, os.cpu_count() or 1))]
        self._pool = ThreadPoolExecutor(len(self._rings), thread_name_prefix="ple-read")

    def read(self, fds: Any, offsets: Any, addresses: Any) -> list[int]:
        share = max(_RING_SHARE, -(-len(offsets) // len(self._rings)))

        def work(ring: Ring, begin: int) -> list[int]:
            part = slice(begin, begin + share)
            return [begin + i for i in ring.read(fds[part], offsets[part], addresses[part])]

        starts = range(share, len(offsets), share)
        others = [self._pool.submit(work, *job) for job in zip(self._rings[1:], starts, strict=False)]
        try:
            wrong = work(self._rings[0], 0)
        finally:
            wait(others)  # they write into the caller's memory
        return wrong + [i for other in others for i in other.result()]

    def close(self) -> None:
        self._pool.shutdown()
        for ring in self._rings:
            ring.close()


class _PoolBatch:
    name = "threads"

    def __init__(self, row_bytes: int) -> None:
        self._row_bytes = row_bytes
        self._pool = ThreadPoolExecutor(_POOL_THREADS, thread_name_prefix="ple-read")
        self.close = self._pool.shutdown

    def read(self, fds: Any, offsets: Any, addresses: Any) -> list[int]:
        share = max(8, -(-len(offsets) // _POOL_THREADS))

        def work(begin: int) -> list[int]:
            part = range(begin, min(begin + share, len(offsets)))
            return [i for i in part if not self._read_one(int(fds[i]), int(offsets[i]), int(addresses[i]))]

        return [i for wrong in self._pool.map(work, range(0, len(offsets), share)) for i in wrong]

    def _read_one(self, fd: int, offset: int, address: int) -> bool:
        try:
            return os.preadv(fd, [_memory(address, self._row_bytes)], offset) == self._row_bytes
        except OSError:
            return False


def _memory(address: int, length: int) -> memoryview:
    return memoryview((ctypes.c_char * length).from_address(address)).cast("B")
