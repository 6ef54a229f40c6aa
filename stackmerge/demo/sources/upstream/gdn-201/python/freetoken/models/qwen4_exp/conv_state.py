"""The last inputs of a causal convolution, for every request."""

from __future__ import annotations


class ConvState:
    """``width`` numbers per slot; a fresh slot holds zeros."""

    def __init__(self, slots: int, width: int) -> None:
        self._rows = [[0.0] * width for _ in range(slots)]

    def read(self, slot: int) -> list[float]:
        return list(self._rows[slot])

    def write(self, slot: int, row: list[float]) -> None:
        self._rows[slot] = row[-len(self._rows[slot]) :]
