"""The n-gram embedding of a model: which table rows a token needs."""

import os

import torch


class NGramEmbedding:
    def __init__(self, args, table=None):
        self.ngram_size = args.ngram_size
        self.heads_per_ngram = args.heads_per_ngram
        self.num_heads = args.num_ngram_heads
        self.eos_token_id = args.ngram_boundary_token_id
        self.layer_multipliers = torch.empty(self.ngram_size, dtype=torch.int64)
        self.ngram_heads_vocab_sizes = torch.empty(self.num_heads, dtype=torch.int64)
        self.ngram_heads_offsets = torch.empty(self.num_heads, dtype=torch.int64)
        self._table = table

    def row_ids(self, meta, out=None):
        if meta.input_ids.is_cuda and os.environ.get("FREETOKEN_PLE_FUSED_HASH", "1") not in ("0", "false"):
            from freetoken.kernel.triton.ple_hash import ple_row_ids

            request, local = self._index(meta)
            return ple_row_ids(
                meta.input_ids, meta.ngram_context, request.int(), local.int(), self.layer_multipliers,
                self.ngram_heads_vocab_sizes, self.ngram_heads_offsets,
                eos_token_id=self.eos_token_id, heads_per_ngram=self.heads_per_ngram, out=out,
            )  # fmt: skip
        rows = self.row_ids_reference(meta)
        return rows if out is None else out.copy_(rows)

    def _index(self, meta):
        token = torch.arange(meta.input_ids.numel(), device=meta.input_ids.device)
        if meta.is_decode:
            return token, torch.zeros_like(token)
        starts = meta.cu_seqlens.long()
        request = torch.searchsorted(starts[1:], token, right=True)
        return request, token - starts[request]

    def row_ids_reference(self, meta):
        ids, context = meta.input_ids.long(), meta.ngram_context
        request, local = self._index(meta)
        width = self.ngram_size - 1
        mix = ids * self.layer_multipliers[0]
        inside = torch.ones_like(ids, dtype=torch.bool)
        blocks = []
        for shift in range(1, self.ngram_size):
            token = torch.arange(ids.numel(), device=ids.device)
            before = context[request, (width + local - shift).clamp(0, width - 1)]
            left = torch.where(local >= shift, ids[(token - shift).clamp(min=0)], before)
            inside = inside & (left != self.eos_token_id)
            mix = mix ^ (torch.where(inside, left, self.eos_token_id) * self.layer_multipliers[shift])
            heads = slice((shift - 1) * self.heads_per_ngram, shift * self.heads_per_ngram)
            row = mix[:, None] % self.ngram_heads_vocab_sizes[heads]
            blocks.append(row + self.ngram_heads_offsets[heads])
        return torch.cat(blocks, dim=1)
