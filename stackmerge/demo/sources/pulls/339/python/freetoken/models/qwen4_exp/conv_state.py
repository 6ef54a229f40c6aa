"""The last inputs of a causal convolution, for every request."""

from __future__ import annotations


class ConvState:
    """``width`` numbers per slot; a fresh slot holds zeros."""

    def __init__(self, slots: int, width: int) -> None:
        self._rows = [[0.0] * width for _ in range(slots)]
        self._copies: dict[int, list[float]] = {}

    def copy_later(self, slot: int, row: list[float]) -> None:
        """Keep a row that still has to be copied, such as that of a resumed request."""
        self._copies[slot] = row

    def sync(self, slot: int) -> None:
        """Carry out the copy that the slot still waits for."""
        if slot in self._copies:
            self.write(slot, self._copies.pop(slot))

    def read(self, slot: int) -> list[float]:
        return list(self._rows[slot])

    def write(self, slot: int, row: list[float]) -> None:
        self._rows[slot] = row[-len(self._rows[slot]) :]
