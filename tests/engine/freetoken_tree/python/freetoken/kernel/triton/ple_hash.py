"""The hash in one launch: one program per token, told by the caller which request the token is in."""

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(
    ids_ptr, context_ptr, request_ptr, local_ptr, mult_ptr, vocab_ptr, offset_ptr, out_ptr,
    EOS: tl.constexpr, N: tl.constexpr, PER: tl.constexpr, PADDED: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0)
    request = tl.load(request_ptr + token).to(tl.int64)
    local = tl.load(local_ptr + token)
    head = tl.arange(0, PADDED)
    real = head < PER
    mix = tl.load(ids_ptr + token).to(tl.int64) * tl.load(mult_ptr)
    inside = local >= 0
    for shift in tl.static_range(1, N):
        own = tl.load(ids_ptr + token - shift, mask=local >= shift, other=EOS).to(tl.int64)
        column = request * (N - 1) + N - 1 + local - shift
        before = tl.load(context_ptr + column, mask=local < shift, other=EOS).to(tl.int64)
        left = tl.where(local >= shift, own, before)
        inside = inside & (left != EOS)
        mix = mix ^ (tl.where(inside, left, EOS) * tl.load(mult_ptr + shift))
        block = (shift - 1) * PER + head
        vocab = tl.load(vocab_ptr + block, mask=real, other=1)
        row = mix % vocab + tl.load(offset_ptr + block, mask=real, other=0)
        tl.store(out_ptr + token * (PER * (N - 1)) + block, row, mask=real)


def ple_row_ids(
    input_ids, ngram_context, req_index, local_index, multipliers, vocab_sizes, offsets,
    *, eos_token_id, heads_per_ngram, out=None,
):  # fmt: skip
    tokens, n = input_ids.numel(), multipliers.numel()
    if ngram_context.shape[-1] != n - 1:
        raise ValueError(f"PLE hash: ngram_context has {ngram_context.shape[-1]} columns, need {n - 1}")
    want = (tokens, vocab_sizes.numel())
    if out is None:
        out = torch.empty(want, dtype=torch.int64, device=input_ids.device)
    elif out.shape != want or out.dtype != torch.int64 or out.device != input_ids.device:
        raise ValueError(f"PLE hash: out must be int64 {want} on {input_ids.device}")
    elif not out.is_contiguous():
        raise ValueError("PLE hash: out must be contiguous")
    if tokens:
        _kernel[(tokens,)](
            input_ids, ngram_context, req_index, local_index, multipliers, vocab_sizes, offsets, out,
            EOS=eos_token_id, N=n, PER=heads_per_ngram, PADDED=triton.next_power_of_2(heads_per_ngram),
        )  # fmt: skip
    return out
