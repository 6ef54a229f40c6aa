"""The fused hash: kernel, launcher and checks. The torch reference is in ple_hash_reference.py."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ple_engine.hash_constants import HashConstants
from ple_engine.ple_hash_reference import row_ids_reference

__all__ = ["HashConstants", "ple_row_ids", "row_ids_reference"]


_ID_TYPES = (torch.int32, torch.int64)
_POINTERS = ["ids_ptr", "ctx_ptr", "cu_ptr", "const_ptr"]


@triton.jit(  # type: ignore[untyped-decorator]
    do_not_specialize=["num_tokens", "num_requests"], do_not_specialize_on_alignment=_POINTERS
)
def _row_ids_kernel(  # type: ignore[no-untyped-def]
    ids_ptr,  # [T] int32 or int64
    ctx_ptr,  # [B, NGRAM-1] int32 or int64
    cu_ptr,  # [B+1] int32 or int64; not read in decode
    const_ptr,  # packed int64, see HashConstants
    out_ptr,  # [T, HEADS * (NGRAM-1)] int64
    num_tokens,
    num_requests,
    EOS: tl.constexpr,
    NGRAM: tl.constexpr,
    HEADS: tl.constexpr,  # of one order
    PADDED: tl.constexpr,  # all heads, rounded up to a power of two
    DECODE: tl.constexpr,
    NARROW: tl.constexpr,
    TILE: tl.constexpr,
):
    ALL_HEADS: tl.constexpr = HEADS * (NGRAM - 1)
    first = tl.program_id(0) * TILE
    token = first + tl.arange(0, TILE)
    live = token < num_tokens
    current = tl.load(ids_ptr + token, mask=live, other=EOS).to(tl.int64)

    # Which request is each token in, and how far? Search for the tile's first token, 32 starts at a time,
    # since loads that wait for each other cost most here; then walk on.
    if DECODE:
        request = token
        local = token * 0
    else:
        below = first * 0
        span = num_requests + first * 0
        while span > 1:
            step = (span + 31) // 32
            pivot = below + step * (1 + tl.arange(0, 32))
            starts = tl.load(cu_ptr + pivot, mask=pivot < below + span, other=2**31 - 1)
            passed = step * tl.sum((starts <= first).to(tl.int32))
            below += passed
            span = tl.minimum(step, span - passed)
        request = below + token * 0
        start = tl.load(cu_ptr + below).to(tl.int32) + token * 0
        following = below + 1
        next_start = tl.load(cu_ptr + following).to(tl.int32)
        while (following < num_requests) & (next_start < first + TILE):
            request = tl.where(token >= next_start, following, request)
            start = tl.where(token >= next_start, next_start, start)
            following += 1
            next_start = tl.load(cu_ptr + following).to(tl.int32)
        local = token - start

    mixed = current * tl.load(const_ptr)
    inside = live
    head = tl.arange(0, PADDED)
    for shift in tl.static_range(1, NGRAM):
        in_ids = local >= shift
        column = request.to(tl.int64) * (NGRAM - 1) + (NGRAM - 1 - shift) + local
        left = tl.load(ids_ptr + token - shift, mask=live & in_ids, other=EOS).to(tl.int64)
        before = tl.load(ctx_ptr + column, mask=live & (local < shift), other=EOS).to(tl.int64)
        left = tl.where(in_ids, left, before)
        inside = inside & (left != EOS)
        mixed = mixed ^ (tl.where(inside, left, EOS) * tl.load(const_ptr + shift))
        if shift == 1:
            mix = tl.broadcast_to(mixed[:, None], [TILE, PADDED])
        else:
            mix = tl.where((head >= (shift - 1) * HEADS)[None, :], mixed[:, None], mix)

    row = _remainder(mix, const_ptr + NGRAM + head, head < ALL_HEADS, ALL_HEADS, NARROW)
    place = first.to(tl.int64) * ALL_HEADS + (token - first)[:, None] * ALL_HEADS + head[None, :]
    # .cs: written once, read by another kernel; a long prefill would else wash the inputs out of the cache
    tl.store(out_ptr + place, row, mask=live[:, None] & (head < ALL_HEADS)[None, :], cache_modifier=".cs")


@triton.jit  # type: ignore[untyped-decorator]
def _remainder(mixed, head_ptr, real, ALL_HEADS: tl.constexpr, NARROW: tl.constexpr):  # type: ignore[no-untyped-def]
    """mixed [TILE, PADDED] mod vocab + offset, head by head; mixed is in 0..2^63-1."""
    magic = tl.load(head_ptr, mask=real, other=0)
    vocab = tl.load(head_ptr + ALL_HEADS, mask=real, other=1)
    offset = tl.load(head_ptr + 2 * ALL_HEADS, mask=real, other=0)
    if NARROW:
        # Quotient from magic = floor(2^64 / vocab), lowest partial product and carries dropped: at most 3
        # too small. So the remainder is below 4 * vocab, exact in 32 bits, and min() takes the multiples off.
        high = (mixed >> 32).to(tl.uint32)
        low = mixed.to(tl.uint32)
        magic_high = (magic >> 32).to(tl.uint32)[None, :]
        magic_low = magic.to(tl.uint32)[None, :]
        divisor = vocab.to(tl.uint32)[None, :]
        quotient = high * magic_high + tl.umulhi(high, magic_low) + tl.umulhi(low, magic_high)
        rest = low - quotient * divisor
        rest = tl.minimum(rest, rest - 2 * divisor)
        rest = tl.minimum(rest, rest - divisor)
        row = (rest + offset.to(tl.uint32)[None, :]).to(tl.int64)
    else:
        row = mixed % vocab[None, :] + offset[None, :]
    return row


def ple_row_ids(
    input_ids: torch.Tensor,
    ngram_context: torch.Tensor,
    cu_seqlens: torch.Tensor | None,
    constants: HashConstants,
    *,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Row of every token and head, `[T, num_heads]` int64, in one launch.

    input_ids      [T] int32 or int64, ragged, in request order
    ngram_context  [B, n-1] int32 or int64, the tokens before each request's first; eos for none
    cu_seqlens     [B+1] int32 or int64, starts of the requests and T; None for decode, one token a request
    out            [T, num_heads] int64, contiguous, on the same device

    Capture-safe: fixed shapes, no host reads. Raises ValueError on any tensor that does not fit.
    """
    if not _fits(input_ids, ngram_context, cu_seqlens, constants):
        _check_inputs(input_ids, ngram_context, cu_seqlens, constants)
    tokens = input_ids.shape[0]
    if out is None:
        out = constants.packed.new_empty((tokens, constants.num_heads))  # half the cost of torch.empty
    else:
        constants.checked_out(out, input_ids)
    if tokens:
        _launch(input_ids, ngram_context, cu_seqlens, constants, out)
    return out


def _launch(
    ids: torch.Tensor,
    context: torch.Tensor,
    cu: torch.Tensor | None,
    constants: HashConstants,
    out: torch.Tensor,
) -> None:
    """The first launch of a kind compiles; later ones skip Triton's argument handling, most of its cost."""
    tokens, requests = ids.shape[0], context.shape[0]
    tile, warps = _tile(tokens)
    out_ptr = out.data_ptr()
    key = (tile, ids.dtype, context.dtype, None if cu is None else cu.dtype, out_ptr % 16)
    grid = -(-tokens // tile)
    ready = constants.launchers.get(key)
    if ready is not None and torch._C._cuda_getDevice() == constants.device.index:
        run, kernel, meta = ready
        stream = torch._C._cuda_getCurrentRawStream(constants.device.index)
        cu_ptr = 0 if cu is None else cu.data_ptr()
        pointers = ids.data_ptr(), context.data_ptr(), cu_ptr, constants.packed_ptr, out_ptr
        run(grid, 1, 1, stream, *kernel, None, None, None, *pointers, tokens, requests, *meta)
        return
    spec = constants.spec
    padded = triton.next_power_of_2(spec.num_heads)
    meta = (
        spec.eos_token_id,
        spec.ngram_size,
        spec.heads_per_ngram,
        padded,
        cu is None,
        constants.narrow,
        tile,
    )
    arguments = (ids, context, ids if cu is None else cu, constants.packed, out, tokens, requests)
    with torch.cuda.device_of(ids):
        compiled = _row_ids_kernel[(grid,)](*arguments, *meta, num_warps=warps)
    if compiled is not None:  # Triton's interpreter compiles none
        constants.launchers[key] = compiled.run, (compiled.function, compiled.packed_metadata), meta


def _tile(tokens: int) -> tuple[int, int]:
    """Tokens and warps of a program: small tiles fill the GPU sooner, large ones load fewer constants."""
    if tokens <= 2048:
        return 8, 1
    return (16, 1) if tokens <= 32768 else (128, 4)


def _fits(
    ids: torch.Tensor, context: torch.Tensor, cu: torch.Tensor | None, constants: HashConstants
) -> bool:
    """Whether all is well, asked as cheaply as can be on a GPU; `_check_inputs` asks one by one and says why."""
    index, kinds = constants.device.index, _ID_TYPES
    if not (
        ids.get_device() == context.get_device() == index and ids.dtype in kinds and context.dtype in kinds
    ):
        return False
    if not (ids.is_contiguous() and context.is_contiguous() and ids.dim() == 1 and context.dim() == 2):
        return False
    requests, width = context.shape
    if width != constants.context_len or requests == 0:
        return False
    if cu is None:
        return ids.shape[0] == requests
    return (
        cu.get_device() == index and cu.dtype in kinds and cu.is_contiguous() and cu.shape == (requests + 1,)
    )


def _check_inputs(
    ids: torch.Tensor, context: torch.Tensor, cu: torch.Tensor | None, constants: HashConstants
) -> None:
    _check_ids("input_ids", ids, 1, constants)
    _check_ids("ngram_context", context, 2, constants)
    requests, width = context.shape
    if width != constants.spec.context_len:
        raise ValueError(
            f"PLE hash: ngram_context has {width} columns; ngram_size {constants.spec.ngram_size} needs "
            f"{constants.spec.context_len}"
        )
    if cu is None:
        if ids.shape[0] != requests:
            raise ValueError(
                f"PLE hash: {ids.shape[0]} input_ids for {requests} requests; decode is one token a request, "
                "anything else needs cu_seqlens"
            )
        return
    _check_ids("cu_seqlens", cu, 1, constants)
    if cu.shape[0] != requests + 1:
        raise ValueError(
            f"PLE hash: cu_seqlens has {cu.shape[0]} entries; {requests} requests need {requests + 1}"
        )
    if requests == 0 and ids.shape[0]:
        raise ValueError(f"PLE hash: {ids.shape[0]} input_ids but no request in ngram_context")


def _check_ids(name: str, tensor: torch.Tensor, dims: int, constants: HashConstants) -> None:
    if tensor.ndim != dims:
        raise ValueError(f"PLE hash: {name} has shape {tuple(tensor.shape)}; need {dims} dimension(s)")
    if tensor.dtype not in _ID_TYPES:
        raise ValueError(f"PLE hash: {name} is {tensor.dtype}; need torch.int32 or torch.int64")
    if not tensor.is_contiguous():
        raise ValueError(f"PLE hash: {name} has strides {tensor.stride()}; pass a contiguous tensor")
    if tensor.device != constants.device:
        raise ValueError(
            f"PLE hash: {name} is on {tensor.device}, the constants on {constants.device}; use one device"
        )
