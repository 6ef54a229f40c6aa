"""The table on disk: rows are staged on the host before, or while, the launch that uses them is queued.

`lookup` copies a fixed shape from pinned staging, so it can be captured; the host hashes and reads.
`forward_host_ctx` surrounds every launch. Eager forwards are filled before their launch, into two buffers
in turn. A graph decode is filled on the `ple-filler` thread, submitted before its launch: the graph waits
on a flag. There is no fence on the graph staging, and there must be none: a fill would wait for its own
graph. The readback event, recorded after the previous graph, already orders the fill behind it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import torch

from ple_engine.filler import Filler, PendingFill
from ple_engine.hash_spec import HashSpec
from ple_engine.memops import choose_wait_sync, wait_and_reset
from ple_engine.row_store import RowStore
from ple_engine.shards import RowSource
from ple_engine.tables import Batch, Request, dequantise


@dataclass(frozen=True)
class TokenRuns:
    """Requests to stage: in `tokens` int64, for each, n-1 context tokens and then `counts[i]` new ones."""

    tokens: torch.Tensor
    counts: list[int]


class DiskRowTable:
    """A `RowTable` whose rows are read from safetensors shards for every forward."""

    reads_row_ids = False
    context_len = 2  # n-1 of the real model; the constructor sets the spec's
    _filler: Filler | None = None  # started by the first fill
    _closed = False

    def __init__(
        self,
        source: RowSource,
        spec: HashSpec,
        *,
        max_graph_tokens: int = 256,
        max_eager_tokens: int = 8192,
        dtype: torch.dtype = torch.bfloat16,
        device: torch.device | str = "cuda",
    ) -> None:
        source.check_covers(spec)
        self.num_rows, self.head_dim, self.dtype = source.num_rows, source.head_dim, dtype
        self.eos_token_id, self.context_len = spec.eos_token_id, spec.context_len
        self._scale = source.scale
        self._device = torch.device(device)
        self._wait_sync = choose_wait_sync(self._device)
        self._store = RowStore(source, spec)
        self._token_bytes = spec.num_heads * source.head_dim
        # Up front, at fixed addresses: graphs keep them. Zeroed: padded lanes read what nothing staged.
        self._graph_pinned = _pinned(max_graph_tokens * self._token_bytes, torch.uint8)
        self._eager_pinned = [_pinned(max_eager_tokens * self._token_bytes, torch.uint8) for _ in range(2)]
        self._eager_read = [torch.cuda.Event(), torch.cuda.Event()]
        self._eager_slot = 0
        self._token_readback = _pinned(max_graph_tokens, torch.int64)
        self._flag = _pinned(1, torch.int64)

    # On the host, around each launch

    @contextmanager
    def forward_host_ctx(self, batch: Batch, use_graph: bool) -> Iterator[None]:
        """Stage the batch's rows, or submit that; cancel what was submitted when the launch fails."""
        pending = self.host_fill_batch(batch, use_graph)
        try:
            yield
        except BaseException:
            if pending is not None:
                pending.cancel()
            raise

    def host_fill_batch(self, batch: Batch, use_graph: bool) -> PendingFill | None:
        """Fill now, or in wait-sync submit the fill of a graph decode and return it.

        Raises the error of an earlier fill that failed, and ValueError for a batch larger than the staging.
        """
        self._raise_failed_fill()
        if not batch.is_decode:
            self._fill_now(self._extend_runs(batch.padded_reqs), graph=False)
            return None
        # Taken now: the engine moves the requests on as soon as the launch returns.
        contexts = [self._context(req, req.device_len - 1) for req in batch.reqs]
        if use_graph and self._wait_sync:
            return self._submit_graph_fill(batch, contexts)
        tokens = batch.input_ids.to(
            "cpu"
        ).tolist()  # blocks until the tokens are sampled: that orders the fill
        self._fill_now(_decode_runs(contexts, tokens), graph=use_graph)
        return None

    def _submit_graph_fill(self, batch: Batch, contexts: list[list[int]]) -> PendingFill:
        size = batch.padded_size
        self._check_fits(size, self._graph_pinned)
        self._token_readback[:size].copy_(batch.input_ids, non_blocking=True)
        # One event per fill: a shared one, recorded again, would move an earlier job's wait.
        readback = torch.cuda.Event()
        readback.record(torch.cuda.current_stream(self._device))
        cancelled = threading.Event()

        def job() -> None:
            try:
                readback.synchronize()
                if not cancelled.is_set():
                    self.fill(_decode_runs(contexts, self._token_readback[:size].tolist()), graph=True)
            except BaseException:
                self._flag.fill_(1)  # free the stream first; the step's output is lost
                raise

        future = self._submit(job)
        self._submitted.append(future)

        def forget() -> None:
            self._submitted.remove(future)
            self._flag.zero_()  # no graph will, and the next one would pass on stale rows

        return PendingFill(future, cancelled, forget)

    def _fill_now(self, runs: TokenRuns, *, graph: bool) -> None:
        """On the filler too, behind the fills already queued there: the store has one user."""
        self._check_fits(sum(runs.counts), self._graph_pinned if graph else self._eager_pinned[0])
        self._submit(lambda: self.fill(runs, graph=graph)).result()

    def fill(self, runs: TokenRuns, *, graph: bool) -> None:
        """Read the rows of `runs` into staging, in order; in wait-sync, a graph fill then raises the flag."""
        staging = self._graph_pinned if graph else self._next_eager_buffer()
        tokens_addr, staging_addr = runs.tokens.data_ptr(), staging.data_ptr()
        for count in runs.counts:
            self._store.stage(tokens_addr, count, staging_addr)
            tokens_addr += 8 * (self.context_len + count)
            staging_addr += count * self._token_bytes
        self._store.flush(self._flag.data_ptr() if graph and self._wait_sync else 0)

    def _next_eager_buffer(self) -> torch.Tensor:
        """The buffer not used last, once the copy that last read it has run."""
        self._eager_slot ^= 1
        self._eager_read[self._eager_slot].synchronize()
        return self._eager_pinned[self._eager_slot]

    def _extend_runs(self, reqs: Sequence[Request]) -> TokenRuns:
        new = [req.input_ids[req.cached_len : req.device_len] for req in reqs]
        contexts = [torch.tensor(self._context(req, req.cached_len)) for req in reqs]
        parts = [part.to(torch.int64) for pair in zip(contexts, new, strict=True) for part in pair]
        return TokenRuns(torch.cat(parts), [tokens.numel() for tokens in new])

    def _context(self, req: Request, position: int) -> list[int]:
        """The n-1 tokens before `position`, eos beyond the start."""
        known = req.input_ids[max(0, position - self.context_len) : position].tolist()
        return [self.eos_token_id] * (self.context_len - len(known)) + known

    def _check_fits(self, tokens: int, staging: torch.Tensor) -> None:
        room = staging.numel() // self._token_bytes
        if tokens > room:
            raise ValueError(
                f"PLE disk table: a batch of {tokens} tokens, staging for {room}; build it larger"
            )

    @cached_property
    def _submitted(self) -> deque[Future[None]]:
        """Graph fills whose outcome the engine thread has not seen."""
        return deque()

    def _raise_failed_fill(self) -> None:
        while self._submitted and self._submitted[0].done():
            error = self._submitted.popleft().exception()
            if error is not None:
                raise error

    def await_fill(self) -> None:
        """Block until the newest submitted fill is done; its error is left for the next step."""
        if self._submitted:
            self._submitted[-1].exception()

    def _submit(self, job: Callable[[], None]) -> Future[None]:
        if self._filler is None:
            self._filler = Filler()
        return self._filler.submit(job)

    def close(self) -> None:
        """End the filler thread, after its queued fills, and close the files.

        Raises the error of the first fill that failed and that no later step has raised. Raises RuntimeError where a
        fill does not end, and leaves the files open, which it may still read.
        """
        if self._filler is not None:
            self._filler.close()
            self._filler = None
        if not self._closed:
            self._closed = True
            self._store.close()
        errors = [error for future in self._submitted if (error := future.exception())]
        self._submitted.clear()
        if errors:
            raise errors[0]

    def __enter__(self) -> DiskRowTable:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: object) -> None:
        try:
            self.close()
        except Exception:
            if kind is None:  # else the one that is on its way is the one to show
                raise

    # On the device

    def lookup(self, row_ids: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """Rows `[T, heads * head_dim]` of the batch that was staged; `row_ids` [T, heads] only says T."""
        stream = torch.cuda.current_stream(self._device)
        capturing = torch.cuda.is_current_stream_capturing()
        if capturing and self._wait_sync:
            wait_and_reset(stream, self._flag)
        staging = self._graph_pinned if capturing else self._eager_pinned[self._eager_slot]
        self._check_fits(row_ids.shape[0], staging)
        nbytes = row_ids.shape[0] * self._token_bytes
        rows = torch.empty(nbytes, dtype=torch.uint8, device=self._device)
        rows.copy_(staging[:nbytes], non_blocking=True)
        if not capturing:
            self._eager_read[self._eager_slot].record(stream)
        return dequantise(rows.view(row_ids.shape[0], -1), self._scale, self.dtype, out)


def _pinned(elements: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.zeros(elements, dtype=dtype, pin_memory=True)


def _decode_runs(contexts: Sequence[list[int]], tokens: Sequence[int]) -> TokenRuns:
    """One token each; `tokens` may go on with those of padded lanes, which are left out."""
    flat = [[*context, token] for context, token in zip(contexts, tokens, strict=False)]
    return TokenRuns(torch.tensor(flat, dtype=torch.int64), [1] * len(flat))
