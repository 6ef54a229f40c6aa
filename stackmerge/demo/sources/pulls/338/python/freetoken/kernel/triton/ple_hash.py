"""The n-gram row-id hash in one launch: a program for each tile of tokens."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

TILE = 32


@triton.jit(do_not_specialize=["num_tokens", "num_requests", "span"])
def _row_ids_kernel(
    ids_ptr,  # [T]
    context_ptr,  # [B, NGRAM - 1]
    starts_ptr,  # [B + 1]; not read in decode
    multipliers_ptr,  # [NGRAM]
    vocab_ptr,  # [HEADS * (NGRAM - 1)]
    offsets_ptr,  # the same
    out_ptr,  # [T, HEADS * (NGRAM - 1)]
    num_tokens,
    num_requests,
    span,  # a power of two, at least half of num_requests
    EOS: tl.constexpr,
    NGRAM: tl.constexpr,
    HEADS: tl.constexpr,
    PADDED: tl.constexpr,  # HEADS, rounded up to a power of two
    DECODE: tl.constexpr,
    TILE: tl.constexpr,
):
    token = tl.program_id(0) * TILE + tl.arange(0, TILE)
    live = token < num_tokens
    request = token * 0
    start = token
    if DECODE:
        request = token
    else:
        while span > 0:  # the last request that starts at or before the token
            later = request + span
            known = later < num_requests
            starts = tl.load(starts_ptr + later, mask=known, other=0)
            request = tl.where(known & (starts <= token), later, request)
            span = span // 2
        start = tl.load(starts_ptr + request).to(tl.int32)
    local = token - start

    head = tl.arange(0, PADDED)
    store = live[:, None] & (head < HEADS)[None, :]
    row_ptr = out_ptr + token.to(tl.int64)[:, None] * (HEADS * (NGRAM - 1)) + head[None, :]
    mixed = tl.load(ids_ptr + token, mask=live, other=EOS).to(tl.int64) * tl.load(multipliers_ptr)
    inside = live
    for shift in tl.static_range(1, NGRAM):
        in_ids = local >= shift
        column = request.to(tl.int64) * (NGRAM - 1) + (NGRAM - 1 - shift) + local
        left = tl.load(ids_ptr + token - shift, mask=live & in_ids, other=EOS).to(tl.int64)
        before = tl.load(context_ptr + column, mask=live & (local < shift), other=EOS).to(tl.int64)
        left = tl.where(in_ids, left, before)
        inside = inside & (left != EOS)
        mixed = mixed ^ (tl.where(inside, left, EOS) * tl.load(multipliers_ptr + shift))
        place = (shift - 1) * HEADS + head
        vocab = tl.load(vocab_ptr + place, mask=head < HEADS, other=1)
        offset = tl.load(offsets_ptr + place, mask=head < HEADS, other=0)
        rows = mixed[:, None] % vocab[None, :] + offset[None, :]
        tl.store(row_ptr + (shift - 1) * HEADS, rows, mask=store)


def ple_row_ids(
    input_ids: torch.Tensor,
    ngram_context: torch.Tensor,
    cu_seqlens: torch.Tensor | None,
    multipliers: torch.Tensor,
    vocab_sizes: torch.Tensor,
    offsets: torch.Tensor,
    eos_token_id: int,
    heads_per_ngram: int,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """The table row of every token and head, ``[T, heads]`` int64; ``cu_seqlens`` None is decode.

    Raises ValueError, with nothing written, for a tensor that does not fit.
    """
    tokens, requests, heads = input_ids.shape[0], ngram_context.shape[0], vocab_sizes.shape[0]
    if ngram_context.shape[1] != multipliers.shape[0] - 1:
        raise ValueError(
            f"ngram_context has {ngram_context.shape[1]} columns for {multipliers.shape[0]}-grams"
        )
    if out is None:
        out = torch.empty((tokens, heads), dtype=torch.int64, device=input_ids.device)
    _check(out, (tokens, heads), input_ids.device)
    if tokens:
        _row_ids_kernel[(triton.cdiv(tokens, TILE),)](
            input_ids, ngram_context, input_ids if cu_seqlens is None else cu_seqlens,
            multipliers, vocab_sizes, offsets, out, tokens, requests, triton.next_power_of_2(requests),
            eos_token_id, multipliers.shape[0], heads_per_ngram,
            triton.next_power_of_2(heads_per_ngram), cu_seqlens is None, TILE,
        )  # fmt: skip
    return out


def _check(out: torch.Tensor, shape: tuple[int, int], device: torch.device) -> None:
    if tuple(out.shape) != shape or out.dtype != torch.int64:
        raise ValueError(f"out is {out.dtype} {tuple(out.shape)}; it must be torch.int64 {shape}")
    if not out.is_contiguous() or out.device != device:
        raise ValueError(f"out must be contiguous and on {device}")
