"""The hash in torch operations: the oracle that the kernel is compared with, and the path for CPU tensors."""

from __future__ import annotations

import torch

from ple_engine.hash_constants import HashConstants


def row_ids_reference(
    input_ids: torch.Tensor,
    ngram_context: torch.Tensor,
    cu_seqlens: torch.Tensor | None,
    longest: int,
    constants: HashConstants,
) -> torch.Tensor:
    """Row ids `[T, num_heads]` int64; `longest` is the largest request's token count, known to the host.

    Lays each request's context and tokens out as one row of a window, finds the last boundary before every
    position with a running maximum, and gathers. Shapes and meanings are those of `ple_row_ids`.
    """
    spec = constants.spec
    window, request, column = _window(input_ids, ngram_context, cu_seqlens, longest, spec.eos_token_id)
    mixed = window[request, column] * constants.multipliers[0]
    blocks = []
    for shift, left in enumerate(_left_tokens(window, spec.eos_token_id, spec.context_len), start=1):
        mixed = mixed ^ (left[request, column] * constants.multipliers[shift])
        heads = slice((shift - 1) * spec.heads_per_ngram, shift * spec.heads_per_ngram)
        remainder = torch.remainder(mixed.unsqueeze(1), constants.vocab_sizes[heads])
        blocks.append(remainder + constants.offsets[heads])
    return torch.cat(blocks, dim=1)


def _window(
    input_ids: torch.Tensor,
    ngram_context: torch.Tensor,
    cu_seqlens: torch.Tensor | None,
    longest: int,
    eos: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """`[B, n-1 + longest]`: contexts, tokens, eos padding; and where each token lies in it."""
    ids = input_ids.long()
    requests, width = ngram_context.shape
    token = torch.arange(ids.numel(), device=ids.device)
    if cu_seqlens is None:
        request, column = token, torch.full_like(token, width)
    else:
        starts = cu_seqlens.long()
        request = torch.searchsorted(starts[1:], token, right=True).clamp_(max=max(requests - 1, 0))
        column = token - starts[request] + width
    window = ids.new_full((requests, width + longest), eos)
    window[:, :width] = ngram_context
    window[request, column] = ids
    return window, request, column


def _left_tokens(window: torch.Tensor, eos: int, shifts: int) -> list[torch.Tensor]:
    """For each shift 1..`shifts`: the token that far left of every position, eos across a boundary."""
    position = torch.arange(window.shape[1], device=window.device).expand_as(window)
    boundary = torch.where(window == eos, position, -1)
    last = torch.cummax(boundary, dim=1).values
    last = torch.cat([torch.full_like(last[:, :1], -1), last[:, :-1]], dim=1)
    lefts = []
    for shift in range(1, shifts + 1):
        source = position - shift
        token = window.gather(1, source.clamp(min=0))
        lefts.append(torch.where(source > last, token, eos))
    return lefts
