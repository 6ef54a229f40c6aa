"""The hash constants on a device, packed for the kernel: each kernel argument costs launch time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from ple_engine.hash_spec import HashSpec

_NARROW_VOCAB = 1 << 30  # the kernel's 32-bit remainder needs 4 * vocab to fit in 32 bits
_NARROW_ROWS = 1 << 31


@dataclass(frozen=True)
class HashConstants:
    """A `HashSpec` on a device.

    packed       int64: n multipliers, then per head floor(2^64 / vocab), vocab, offset (three runs)
    multipliers, vocab_sizes, offsets   int64 views of `packed`
    narrow       every vocab and row fits the kernel's 32-bit arithmetic
    launchers    the compiled kernels, by what they were compiled for
    """

    spec: HashSpec
    device: torch.device
    packed: torch.Tensor
    multipliers: torch.Tensor
    vocab_sizes: torch.Tensor
    offsets: torch.Tensor
    narrow: bool
    num_heads: int
    context_len: int
    packed_ptr: int
    launchers: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def on(cls, spec: HashSpec, device: torch.device) -> HashConstants:
        magic = [_as_int64((1 << 64) // v) for v in spec.vocab_sizes]
        packed = torch.tensor(
            [*spec.multipliers, *magic, *spec.vocab_sizes, *spec.offsets], dtype=torch.int64
        )
        packed = packed.to(device)
        n, h = spec.ngram_size, spec.num_heads
        return cls(
            spec=spec,
            device=packed.device,
            packed=packed,
            multipliers=packed[:n],
            vocab_sizes=packed[n + h : n + 2 * h],
            offsets=packed[n + 2 * h :],
            num_heads=h,
            context_len=n - 1,
            packed_ptr=packed.data_ptr(),
            narrow=max(spec.vocab_sizes) <= _NARROW_VOCAB and spec.num_rows <= _NARROW_ROWS,
        )

    def checked_out(self, out: torch.Tensor, input_ids: torch.Tensor) -> torch.Tensor:
        """`out` if it can take the rows of `input_ids`; else ValueError, before anything is written."""
        want = (input_ids.shape[0], self.num_heads)
        if out.shape != want:
            raise ValueError(f"PLE hash: out has shape {tuple(out.shape)}; need {want}, [tokens, heads]")
        if out.dtype != torch.int64:
            raise ValueError(f"PLE hash: out is {out.dtype}; row ids need torch.int64")
        if not out.is_contiguous():
            raise ValueError(f"PLE hash: out has strides {out.stride()}; pass a contiguous buffer")
        if out.device != input_ids.device:
            raise ValueError(
                f"PLE hash: out is on {out.device} and input_ids on {input_ids.device}; use one device"
            )
        return out


def _as_int64(value: int) -> int:
    """The signed number with the same 64 bits."""
    return value - (1 << 64) if value >= 1 << 63 else value
