"""Where a model finds its rows: the contract, and the two tables held in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
import triton
import triton.language as tl

from ple_engine.shards import RowSource


class Request(Protocol):
    """What a table reads of a request: `input_ids` on the host, where the newest token may be missing."""

    input_ids: torch.Tensor
    device_len: int
    cached_len: int


class Batch(Protocol):
    """One forward: `reqs`, with dummies `padded_reqs`; in decode `input_ids` [padded_size] on the device."""

    @property
    def is_decode(self) -> bool: ...
    @property
    def reqs(self) -> Sequence[Request]: ...
    @property
    def padded_reqs(self) -> Sequence[Request]: ...
    @property
    def padded_size(self) -> int: ...
    @property
    def input_ids(self) -> torch.Tensor: ...


class RowTable(Protocol):
    """Rows `[num_rows, head_dim]`, fp8 times one scale, handed out in `dtype`.

    reads_row_ids  False where `lookup` uses only the shape of its row ids
    """

    num_rows: int
    head_dim: int
    dtype: torch.dtype
    reads_row_ids: bool

    def lookup(self, row_ids: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """`[T, heads * head_dim]` for row ids `[T, heads]`, into `out` when given. Can be captured."""

    def forward_host_ctx(self, batch: Batch, use_graph: bool) -> contextlib.AbstractContextManager[None]:
        """Surrounds every launch of a forward."""

    def await_fill(self) -> None:
        """Block until the newest fill is done, if one runs on another thread. Raises nothing of the fill."""

    def close(self) -> None: ...


class GpuTable:
    """The whole table in GPU memory (or CPU memory, in tests): the oracle of the others."""

    reads_row_ids = True

    def __init__(self, weight: torch.Tensor, scale: float, dtype: torch.dtype = torch.bfloat16) -> None:
        self._bytes = weight.view(torch.uint8)
        self._scale = scale
        self.num_rows, self.head_dim = weight.shape
        self.dtype = dtype

    @classmethod
    def load(cls, source: RowSource, device: torch.device | str) -> GpuTable:
        return cls(load_rows(source).to(device), source.scale)

    def lookup(self, row_ids: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        rows = self._bytes.index_select(0, row_ids.reshape(-1))
        return dequantise(rows.view(row_ids.shape[0], -1), self._scale, self.dtype, out)

    @contextlib.contextmanager
    def forward_host_ctx(self, batch: Batch, use_graph: bool) -> Iterator[None]:  # noqa: ARG002
        yield

    def await_fill(self) -> None:
        """There is none."""

    def close(self) -> None:
        """Nothing to end."""


class UvaTable(GpuTable):
    """The whole table in pinned host memory; a kernel reads single rows over the bus."""

    def __init__(self, weight: torch.Tensor, scale: float, dtype: torch.dtype = torch.bfloat16) -> None:
        if not weight.is_pinned():
            raise ValueError(
                "UVA table: the rows are not in pinned memory, which the GPU cannot read; pin them"
            )
        super().__init__(weight, scale, dtype)

    @classmethod
    def load(cls, source: RowSource, device: torch.device | str) -> UvaTable:  # noqa: ARG003
        return cls(load_rows(source, pinned=True), source.scale)

    def lookup(self, row_ids: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        rows = torch.empty((row_ids.numel(), self.head_dim), dtype=torch.uint8, device=row_ids.device)
        if row_ids.numel():
            padded = triton.next_power_of_2(self.head_dim)
            grid = (row_ids.numel(),)
            _gather_kernel[grid](self._bytes, row_ids.contiguous(), rows, self.head_dim, padded, num_warps=1)
        return dequantise(rows.view(row_ids.shape[0], -1), self._scale, self.dtype, out)


@triton.jit  # type: ignore[untyped-decorator]
def _gather_kernel(table_ptr, ids_ptr, out_ptr, WIDTH: tl.constexpr, PADDED: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0).to(tl.int64)
    row = tl.load(ids_ptr + i)
    column = tl.arange(0, PADDED)
    values = tl.load(table_ptr + row * WIDTH + column, mask=column < WIDTH)
    tl.store(out_ptr + i * WIDTH + column, values, mask=column < WIDTH)


def dequantise(
    rows: torch.Tensor, scale: float, dtype: torch.dtype, out: torch.Tensor | None = None
) -> torch.Tensor:
    """fp8 e4m3 bytes to `dtype`, times the table's scale, rounded once."""
    return torch.mul(rows.view(torch.float8_e4m3fn).to(dtype), scale, out=out)


def load_rows(source: RowSource, pinned: bool = False) -> torch.Tensor:
    """The table on the host, fp8 `[num_rows, head_dim]`, each shard read straight into its place."""
    table = torch.empty((source.num_rows, source.head_dim), dtype=torch.uint8, pin_memory=pinned)
    for i, shard in enumerate(source.shards):
        part = table[i * shard.rows : (i + 1) * shard.rows].view(-1).numpy()
        with shard.path.open("rb") as file:
            file.seek(shard.base)
            if file.readinto(part.data) != part.nbytes:
                raise ValueError(f"{shard.path}: {shard.key}: the file ends inside it; fetch it again")
    return table.view(torch.float8_e4m3fn)
