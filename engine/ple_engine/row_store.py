"""The host's half of a fill: hash token windows, read their rows into staging memory, raise the flag."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from ple_engine.hash_spec import HashSpec
from ple_engine.row_reader import RowReader
from ple_engine.shards import RowSource

_FEW_TOKENS = 16


@dataclass
class _Run:
    """Requests whose tokens, and whose staging, lie one behind the other in memory."""

    tokens: int
    staging: int
    counts: list[int]
    next_tokens: int
    next_staging: int


class RowStore:
    """Collects a fill by `stage`, does it by `flush`. One thread at a time; an error leaves it empty."""

    def __init__(self, source: RowSource, spec: HashSpec, reader: RowReader | None = None) -> None:
        self._spec = spec
        self._row_bytes = source.head_dim
        self._reader = reader or RowReader(source)
        self._runs: list[_Run] = []

    @property
    def backend(self) -> str:
        return self._reader.backend

    def stage(self, tokens_addr: int, n: int, staging_addr: int) -> None:
        """Queue a request: its context and n tokens, int64 at `tokens_addr`; the rows go to `staging_addr`.

        The token memory must live until `flush` returns.
        """
        next_tokens = tokens_addr + 8 * (self._spec.context_len + n)
        next_staging = staging_addr + n * self._spec.num_heads * self._row_bytes
        last = self._runs[-1] if self._runs else None
        if last and (last.next_tokens, last.next_staging) == (tokens_addr, staging_addr):
            last.counts.append(n)
            last.next_tokens, last.next_staging = next_tokens, next_staging
        else:
            self._runs.append(_Run(tokens_addr, staging_addr, [n], next_tokens, next_staging))

    def flush(self, signal_addr: int) -> None:
        """Read every queued row, then write 1 to the int64 at `signal_addr` (0: no signal).

        Raises OSError when a read fails; nothing is signalled then.
        """
        runs, self._runs = self._runs, []
        for run in runs:
            rows = self._hash(run)
            self._reader.read(rows, run.staging + np.arange(len(rows)) * self._row_bytes)
        if signal_addr:
            ctypes.c_int64.from_address(signal_addr).value = 1

    def _hash(self, run: _Run) -> Any:
        context, tokens = self._spec.context_len, sum(run.counts)
        flat = _int64s(run.tokens, tokens + context * len(run.counts))
        if tokens <= _FEW_TOKENS:
            return np.array(_hash_few(self._spec, flat.tolist(), run.counts))
        request = np.repeat(np.arange(len(run.counts)), run.counts)
        return hash_windows(self._spec, flat, np.arange(tokens) + (request + 1) * context).ravel()

    def close(self) -> None:
        self._reader.close()


def _hash_few(spec: HashSpec, tokens: list[int], counts: list[int]) -> list[int]:
    """`hash_windows` without numpy: a decode step waits for this, and finds numpy's code cold in the cache."""
    eos, (first, *others) = spec.eos_token_id, spec.multipliers
    heads, per = list(zip(spec.vocab_sizes, spec.offsets, strict=True)), spec.heads_per_ngram
    orders = [(s, m, heads[(s - 1) * per : s * per]) for s, m in enumerate(others, start=1)]
    rows: list[int] = []
    end = 0
    for count in counts:
        begin, end = end + spec.context_len, end + spec.context_len + count
        for position in range(begin, end):
            mix, inside = tokens[position] * first, True
            for shift, multiplier, block in orders:
                left = tokens[position - shift]
                inside = inside and left != eos
                mix ^= (left if inside else eos) * multiplier
                rows += [mix % vocab + offset for vocab, offset in block]
    return rows


def hash_windows(spec: HashSpec, tokens: Any, positions: Any) -> Any:
    """Row ids `[len(positions), num_heads]` of the tokens at `positions`, each with n-1 tokens before it."""
    eos = spec.eos_token_id
    mixed = tokens[positions] * spec.multipliers[0]
    inside = np.ones(len(positions), dtype=bool)
    rows = np.empty((len(positions), spec.num_heads), dtype=np.int64)
    for shift in range(1, spec.ngram_size):
        left = tokens[positions - shift]
        inside &= left != eos
        mixed = mixed ^ (np.where(inside, left, eos) * spec.multipliers[shift])
        heads = slice((shift - 1) * spec.heads_per_ngram, shift * spec.heads_per_ngram)
        rows[:, heads] = mixed[:, None] % np.array(spec.vocab_sizes[heads]) + np.array(spec.offsets[heads])
    return rows


def _int64s(address: int, count: int) -> Any:
    return (
        np.ctypeslib.as_array((ctypes.c_int64 * count).from_address(address))
        if count
        else np.empty(0, np.int64)
    )
