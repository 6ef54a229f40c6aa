"""The short convolution of a gated delta net layer, one channel of it."""

from __future__ import annotations

from collections.abc import Sequence

from freetoken.models.qwen4_exp.conv_state import ConvState


class CausalConv:
    """Each output is the weighted sum of its input and the inputs before it."""

    def __init__(self, weights: Sequence[float], slots: int) -> None:
        self.weights = list(weights)
        self.state = ConvState(slots, len(self.weights) - 1)

    def prefill(self, slot: int, inputs: Sequence[float]) -> list[float]:
        """The outputs of a whole prompt."""
        self.state.sync(slot)
        row = [*self.state.read(slot), *inputs]
        self.state.write(slot, row)
        return self._convolve(row)

    def decode(self, slot: int, value: float) -> float:
        """The output of one more token."""
        row = [*self.state.read(slot), value]
        self.state.write(slot, row)
        return self._convolve(row)[0]

    def _convolve(self, row: Sequence[float]) -> list[float]:
        taps = len(self.weights)
        return [
            sum(weight * value for weight, value in zip(self.weights, row[i : i + taps], strict=True))
            for i in range(len(row) - taps + 1)
        ]
