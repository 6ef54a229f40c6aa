"""Per-layer n-gram embeddings: the row of each token's n-grams in a large table.

Head j of order k takes row ``mix_k mod vocab[j] + offset[j]``, where ``mix_k`` joins the last k tokens,
each times its multiplier, by XOR. An n-gram never reaches across the boundary token.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from freetoken.kernel.triton.ple_hash import ple_row_ids

FUSED_HASH = "FREETOKEN_PLE_FUSED_HASH"


@dataclass(frozen=True)
class PLEMetadata:
    """One forward: ``input_ids[T]`` ragged, ``cu_seqlens[B+1]``, ``ngram_context[B, n-1]``."""

    input_ids: torch.Tensor
    cu_seqlens: torch.Tensor
    seq_lens: Sequence[int]
    ngram_context: torch.Tensor
    is_decode: bool


class NGramEmbedding:
    """The n-gram hash of one layer, and the table that it addresses."""

    def __init__(self, config, constants, table) -> None:
        self.ngram_size = config.ngram_size
        self.heads_per_ngram = config.heads_per_ngram
        self.num_heads = config.heads_per_ngram * (config.ngram_size - 1)
        self.eos_token_id = config.eos_token_id
        self.layer_multipliers = constants.multipliers
        self.ngram_heads_vocab_sizes = constants.vocab_sizes
        self.ngram_heads_offsets = constants.offsets
        self._table = table

    def forward(self, meta: PLEMetadata) -> torch.Tensor:
        """The embedding of every token, ``[T, num_heads * head_dim]``."""
        return self._table.lookup(self.row_ids(meta))

    def row_ids(self, meta: PLEMetadata) -> torch.Tensor:
        """The table row of every token and head, ``[T, num_heads]`` int64: one kernel launch on a GPU."""
        if meta.input_ids.is_cuda and fused_hash_enabled():
            return self.row_ids_fused(meta)
        return self.row_ids_reference(meta)

    def row_ids_fused(self, meta: PLEMetadata) -> torch.Tensor:
        """The rows by the fused kernel."""
        return ple_row_ids(
            meta.input_ids,
            meta.ngram_context,
            None if meta.is_decode else meta.cu_seqlens,
            self.layer_multipliers,
            self.ngram_heads_vocab_sizes,
            self.ngram_heads_offsets,
            self.eos_token_id,
            self.heads_per_ngram,
        )

    def row_ids_reference(self, meta: PLEMetadata) -> torch.Tensor:
        """The rows by torch operations, about forty of them."""
        grams = self._grams(meta)
        mixed, blocks = grams[0] * self.layer_multipliers[0], []
        for shift in range(1, self.ngram_size):
            mixed = mixed ^ (grams[shift] * self.layer_multipliers[shift])
            heads = slice((shift - 1) * self.heads_per_ngram, shift * self.heads_per_ngram)
            rows = torch.remainder(mixed[:, None], self.ngram_heads_vocab_sizes[heads])
            blocks.append(rows + self.ngram_heads_offsets[heads])
        return torch.cat(blocks, dim=1)

    def _grams(self, meta: PLEMetadata) -> list[torch.Tensor]:
        """For shift 0 to n-1: the token that far to the left of every token, eos across a boundary."""
        request, local = self._places(meta)
        current = meta.input_ids.long()
        grams, inside = [current], torch.ones_like(current, dtype=torch.bool)
        token = torch.arange(current.numel(), device=current.device)
        for shift in range(1, self.ngram_size):
            column = (self.ngram_size - 1 - shift + local).clamp(max=self.ngram_size - 2)
            before = meta.ngram_context[request, column].long()
            left = torch.where(local >= shift, current[(token - shift).clamp(min=0)], before)
            inside = inside & (left != self.eos_token_id)
            grams.append(torch.where(inside, left, self.eos_token_id))
        return grams

    def _places(self, meta: PLEMetadata) -> tuple[torch.Tensor, torch.Tensor]:
        """Which request each token belongs to, and its place there."""
        token = torch.arange(meta.input_ids.numel(), device=meta.input_ids.device)
        if meta.is_decode:
            return token, torch.zeros_like(token)
        starts = meta.cu_seqlens.long()
        request = torch.searchsorted(starts[1:].contiguous(), token, right=True)
        return request, token - starts[request]


def fused_hash_enabled() -> bool:
    """Set the variable to 0 or false to go back to the reference."""
    return os.environ.get(FUSED_HASH, "1").strip().lower() not in ("0", "false")
