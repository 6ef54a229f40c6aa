"""Rows of the n-gram table in a file, read into staging memory."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence

CONTEXT = 2


class RowStore:
    """``stage`` says which tokens' rows go where; ``flush`` reads them, then raises a flag.

    ``rows_of`` gives the rows of a window: the context and the tokens after it.
    """

    def __init__(self, path: str, row_bytes: int, rows_of: Callable[[Sequence[int]], Sequence[int]]) -> None:
        self._file = os.open(path, os.O_RDONLY)
        self._row_bytes, self._rows_of = row_bytes, rows_of
        self._wanted: list[tuple[int, int]] = []

    def stage(self, tokens_addr: int, n: int, staging_addr: int) -> None:
        """``tokens_addr`` holds the context and then ``n`` tokens, int64."""
        window = (ctypes.c_int64 * (CONTEXT + n)).from_address(tokens_addr)
        for i, row in enumerate(self._rows_of(list(window))):
            self._wanted.append((row, staging_addr + i * self._row_bytes))

    def flush(self, signal_addr: int) -> None:
        wanted, self._wanted = self._wanted, []
        for row, address in wanted:
            data = os.pread(self._file, self._row_bytes, row * self._row_bytes)
            ctypes.memmove(address, data, len(data))
        if signal_addr:
            signal(signal_addr)

    def close(self) -> None:
        os.close(self._file)


def signal(flag_addr: int) -> None:
    """Raise the flag that a graph waits for."""
    ctypes.c_int64.from_address(flag_addr).value = 1
