"""The hash in plain Python integers: slow, obvious, and the judge of every other form."""

from __future__ import annotations

from collections.abc import Sequence

from ple_engine.hash_spec import HashSpec


def row_ids_of_request(spec: HashSpec, context: Sequence[int], tokens: Sequence[int]) -> list[list[int]]:
    """Rows of one request's tokens, `[len(tokens)][num_heads]`; `context` is the n-1 tokens before them."""
    history = [*context, *tokens]
    return [_row_ids_at(spec, history, len(context) + i) for i in range(len(tokens))]


def row_ids_of_batch(
    spec: HashSpec, contexts: Sequence[Sequence[int]], requests: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Rows of a ragged batch, in request order."""
    pairs = zip(contexts, requests, strict=True)
    return [row for context, tokens in pairs for row in row_ids_of_request(spec, context, tokens)]


def _row_ids_at(spec: HashSpec, history: Sequence[int], position: int) -> list[int]:
    window = [_left_of(spec, history, position, s) for s in range(spec.ngram_size)]
    rows = []
    for head in range(spec.num_heads):
        order = 2 + head // spec.heads_per_ngram
        mix = 0
        for s in range(order):
            mix ^= window[s] * spec.multipliers[s]
        rows.append(mix % spec.vocab_sizes[head] + spec.offsets[head])
    return rows


def _left_of(spec: HashSpec, history: Sequence[int], position: int, shift: int) -> int:
    """The token `shift` places to the left, or eos where a boundary or the start of history is in between."""
    if shift == 0:
        return history[position]
    between = [history[p] if p >= 0 else spec.eos_token_id for p in range(position - shift, position)]
    return spec.eos_token_id if spec.eos_token_id in between else between[0]
