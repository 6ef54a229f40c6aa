"""The hash as the model calls it: metadata in, row ids out, by the fused kernel or by the torch reference."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ple_engine.hash_spec import HashSpec
from ple_engine.ple_hash import HashConstants, ple_row_ids, row_ids_reference

FUSED_HASH_ENV = "FREETOKEN_PLE_FUSED_HASH"


@dataclass(frozen=True)
class PLEMetadata:
    """One forward's tokens, as every PLE layer sees them.

    input_ids      [T] int32 or int64, ragged, in request order
    cu_seqlens     [B+1] int32 or int64, where each request starts in `input_ids`
    seq_lens       tokens of each request, on the host
    ngram_context  [B, n-1] int32 or int64, the tokens before each request's first
    is_decode      one token per request
    """

    input_ids: torch.Tensor
    cu_seqlens: torch.Tensor
    seq_lens: Sequence[int]
    ngram_context: torch.Tensor
    is_decode: bool


class NGramEmbedding:
    """The hash of one PLE layer, its constants on one device."""

    def __init__(self, spec: HashSpec, device: torch.device | str) -> None:
        self.spec = spec
        self.constants = HashConstants.on(spec, torch.device(device))

    def row_ids(self, meta: PLEMetadata, out: torch.Tensor | None = None) -> torch.Tensor:
        """Table row of every token and head, `[T, num_heads]` int64, into `out` when given.

        One kernel launch on a GPU. On CPU tensors, and where FREETOKEN_PLE_FUSED_HASH is 0 or false, the
        torch reference. Raises ValueError for a tensor of the wrong shape, dtype, layout or device.
        """
        if meta.input_ids.is_cuda and fused_hash_enabled():
            cu_seqlens = None if meta.is_decode else meta.cu_seqlens
            return ple_row_ids(meta.input_ids, meta.ngram_context, cu_seqlens, self.constants, out=out)
        rows = self.row_ids_reference(meta)
        return rows if out is None else self.constants.checked_out(out, meta.input_ids).copy_(rows)

    def row_ids_reference(self, meta: PLEMetadata) -> torch.Tensor:
        """The same rows in torch operations."""
        longest = 1 if meta.is_decode else max(meta.seq_lens, default=0)
        cu_seqlens = None if meta.is_decode else meta.cu_seqlens
        return row_ids_reference(meta.input_ids, meta.ngram_context, cu_seqlens, longest, self.constants)


def fused_hash_enabled() -> bool:
    """Whether the kernel is used; FREETOKEN_PLE_FUSED_HASH=0 or false goes back to the reference."""
    return os.environ.get(FUSED_HASH_ENV, "1").strip().lower() not in ("0", "false")


def roll_context(meta: PLEMetadata, out: torch.Tensor | None = None) -> torch.Tensor:
    """Each request's last n-1 tokens after this forward, `[B, n-1]`: the next forward's `ngram_context`.

    Device arithmetic alone, so it can be captured. `out` may be `meta.ngram_context` itself.
    """
    old = meta.ngram_context
    width = old.shape[1]
    ids = meta.input_ids.to(old.dtype)
    if meta.is_decode:
        rolled = torch.cat([old[:, 1:], ids.unsqueeze(1)], dim=1)
    else:
        starts, ends = meta.cu_seqlens[:-1, None].long(), meta.cu_seqlens[1:, None].long()
        column = torch.arange(width, device=ids.device)
        source = ends - width + column
        kept = old.gather(1, (ends - starts + column).clamp_(max=width - 1))
        new = ids[source.clamp(0, max(ids.numel() - 1, 0))] if ids.numel() else kept
        rolled = torch.where(source >= starts, new, kept)
    return rolled if out is None else out.copy_(rolled)
