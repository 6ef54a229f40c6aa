"""The n-gram table on disk: the host reads the rows of every forward into pinned staging memory.

``lookup`` is a fixed-shape copy out of the staging, so it can be captured. A captured graph waits for a flag
right before that copy, and the fill that raises the flag may still be running when the graph is launched.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from freetoken.kernel import memops
from freetoken.kernel.row_store import CONTEXT, RowStore
from freetoken.models.qwen4_exp.ple_filler import Filler, PendingFill


@dataclass(frozen=True)
class TokenRuns:
    """What to stage: for each request its context and then ``counts[i]`` tokens, all in one int64 tensor."""

    tokens: torch.Tensor
    counts: list[int]


class DiskRowTable:
    """A table whose rows are staged by the host; ``lookup`` only looks at the shape of the row ids."""

    reads_row_ids = False
    _filler: Filler | None = None

    def __init__(self, store: RowStore, config, device: torch.device) -> None:
        self.dtype = config.dtype
        self.scale = config.weight_scale
        self.eos_token_id = config.eos_token_id
        self._store = store
        self._device = device
        self._token_bytes = config.token_bytes
        # Pinned, at fixed addresses: captured graphs keep them.
        self._graph_pinned = _pinned(config.max_graph_tokens * config.token_bytes)
        # Two, in turn: a queued copy may still have to read the one that was filled last.
        self._eager_pinned = [_pinned(config.max_eager_tokens * config.token_bytes) for _ in range(2)]
        self._eager_read = [torch.cuda.Event(), torch.cuda.Event()]
        self._eager_slot = 0
        self._wait_sync = memops.available(device)
        self._flag = _pinned(8).view(torch.int64)
        self._token_readback = _pinned(8 * config.max_graph_tokens).view(torch.int64)

    # Around each launch

    @contextmanager
    def forward_host_ctx(self, batch, use_graph: bool) -> Iterator[None]:
        """Surround the launch of one forward, whose rows must be staged before its graph can go on."""
        pending = self.host_fill_batch(batch, use_graph)
        try:
            yield
        except BaseException:
            if pending is not None:
                pending.cancel()
            raise

    def host_fill_batch(self, batch, use_graph: bool) -> PendingFill | None:
        """Stage the rows of one batch: now, or for a graph that waits, on the filler thread beside its launch."""
        self._raise_failed_fill()
        if not batch.is_decode:
            self._fill_now(self._extend_runs(batch.padded_reqs), graph=False)
            return None
        contexts = [self._context(req, req.device_len - 1) for req in batch.reqs]
        if use_graph and self._wait_sync:
            return self._submit_fill(batch, contexts)
        tokens = batch.input_ids.to("cpu").tolist()  # blocks until they are sampled
        self._fill_now(_decode_runs(contexts, tokens), graph=use_graph)
        return None

    def _submit_fill(self, batch, contexts: list[list[int]]) -> PendingFill:
        """The contexts are those of now: the engine moves on as soon as the launch returns."""
        size = batch.padded_size
        self._token_readback[:size].copy_(batch.input_ids, non_blocking=True)
        readback = torch.cuda.Event()  # of this fill alone: the next one would record it again
        readback.record(torch.cuda.current_stream(self._device))
        cancelled = threading.Event()

        def job() -> None:
            try:
                readback.synchronize()
                if not cancelled.is_set():
                    self.fill(_decode_runs(contexts, self._token_readback[:size].tolist()), graph=True)
            except BaseException:
                self._flag.fill_(1)  # the graph must not wait for ever
                raise

        future = self._thread().submit(job)

        def forget() -> None:
            self._thread().forget(future)
            self._flag.zero_()

        return PendingFill(cancelled, forget)

    def _fill_now(self, runs: TokenRuns, *, graph: bool) -> None:
        """Behind the fills that are queued, and waited for."""
        self._thread().run(lambda: self.fill(runs, graph=graph))

    def _thread(self) -> Filler:
        if self._filler is None:
            self._filler = Filler()
        return self._filler

    def _raise_failed_fill(self) -> None:
        if self._filler is not None:
            self._filler.raise_failed()

    def close(self) -> None:
        """End the filler thread."""
        if self._filler is not None:
            self._filler.close()
            self._filler = None

    # Staging

    def fill(self, runs: TokenRuns, *, graph: bool) -> None:
        """Read the rows of ``runs`` into the staging; for a graph that waits, raise its flag."""
        staging = self._graph_pinned if graph else self._next_eager_buffer()
        tokens_addr, staging_addr = runs.tokens.data_ptr(), staging.data_ptr()
        for count in runs.counts:
            self._store.stage(tokens_addr, count, staging_addr)
            tokens_addr += 8 * (CONTEXT + count)
            staging_addr += count * self._token_bytes
        self._store.flush(self._flag.data_ptr() if graph and self._wait_sync else 0)

    def _next_eager_buffer(self) -> torch.Tensor:
        """The buffer that was not used last, once the copy that last read it has run."""
        self._eager_slot ^= 1
        self._eager_read[self._eager_slot].synchronize()
        return self._eager_pinned[self._eager_slot]

    def _extend_runs(self, reqs: Sequence) -> TokenRuns:
        parts, counts = [], []
        for req in reqs:
            new = req.input_ids[req.cached_len : req.device_len]
            parts += [torch.tensor(self._context(req, req.cached_len)), new.to(torch.int64)]
            counts.append(new.numel())
        return TokenRuns(torch.cat(parts), counts)

    def _context(self, req, position: int) -> list[int]:
        """The tokens before ``position``, eos beyond the start."""
        known = req.input_ids[max(0, position - CONTEXT) : position].tolist()
        return [self.eos_token_id] * (CONTEXT - len(known)) + known

    # On the device

    def lookup(self, row_ids: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """The staged rows, ``[T, heads * head_dim]``."""
        stream = torch.cuda.current_stream(self._device)
        capturing = torch.cuda.is_current_stream_capturing()
        if capturing and self._wait_sync:
            memops.wait_and_reset(stream, self._flag)
        staging = self._graph_pinned if capturing else self._eager_pinned[self._eager_slot]
        size = row_ids.shape[0] * self._token_bytes
        rows = torch.empty(size, dtype=torch.uint8, device=self._device)
        rows.copy_(staging[:size], non_blocking=True)
        if not capturing:
            self._eager_read[self._eager_slot].record(stream)
        fp8 = rows.view(row_ids.shape[0], -1).view(torch.float8_e4m3fn)
        return torch.mul(fp8.to(self.dtype), self.scale, out=out)


def _pinned(size: int) -> torch.Tensor:
    return torch.zeros(size, dtype=torch.uint8, pin_memory=True)


def _decode_runs(contexts: Sequence[list[int]], tokens: Sequence[int]) -> TokenRuns:
    """One token for each request; those of padding are left out."""
    rows = [[*context, token] for context, token in zip(contexts, tokens, strict=False)]
    return TokenRuns(torch.tensor(rows, dtype=torch.int64), [1] * len(rows))
