"""A decode loop with the overlap scheduler's order, around one captured graph.

Step k+1 is filled and launched while step k may still be queued; the host learns step k's tokens after
that. So at most two steps are in flight, and a request's tokens on the host lag the device by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from ple_engine.hashing import NGramEmbedding, PLEMetadata, roll_context
from ple_engine.tables import RowTable

Model = Callable[[torch.Tensor, Callable[[], torch.Tensor]], torch.Tensor]
"""(input ids [B], lookup) to next ids [B]; captured, so of fixed shape and without host reads.

It calls `lookup` once, where it uses the rows [B, heads * head_dim]: that is where a graph waits for its fill.
"""


@dataclass
class DecodeRequest:
    """Tokens on the host, how many the device has been given, and how many it has finished."""

    input_ids: torch.Tensor
    device_len: int
    cached_len: int = 0


@dataclass(frozen=True)
class DecodeBatch:
    is_decode: bool
    reqs: Sequence[DecodeRequest]
    padded_reqs: Sequence[DecodeRequest]
    padded_size: int
    input_ids: torch.Tensor


class DecodeLoop:
    """Runs a fixed batch: `prefill` once, then `decode` any number of steps.

    The buffers are static, since the graph keeps their addresses:
    input_ids [B], context [B, n-1], row_ids [B, heads] int64, rows [B, heads * head_dim].
    """

    def __init__(
        self, embedding: NGramEmbedding, table: RowTable, model: Model, prompts: Sequence[Sequence[int]]
    ) -> None:
        spec, device = embedding.spec, embedding.constants.device
        self.embedding, self.table, self.model = embedding, table, model
        self.requests = [DecodeRequest(torch.tensor(prompt), len(prompt)) for prompt in prompts]
        size = len(prompts)
        self.input_ids = torch.zeros(size, dtype=torch.int64, device=device)
        self.context = torch.full((size, spec.context_len), spec.eos_token_id, device=device)
        self.row_ids = torch.zeros((size, spec.num_heads), dtype=torch.int64, device=device)
        self.rows = torch.zeros((size, spec.num_heads * table.head_dim), dtype=table.dtype, device=device)
        self._starts = torch.arange(size + 1, device=device)
        self._sampled = [torch.zeros(size, dtype=torch.int64, pin_memory=True) for _ in range(2)]
        self._done = [torch.cuda.Event(), torch.cuda.Event()]
        self._graph: torch.cuda.CUDAGraph | None = None

    def prefill(self) -> None:
        """One eager forward over the prompts; its last tokens' samples are the first decode inputs."""
        lens = [req.device_len for req in self.requests]
        tokens = torch.cat([req.input_ids for req in self.requests]).to(self.input_ids.device)
        starts = torch.tensor([0, *lens]).cumsum(0).to(self.input_ids.device)
        meta = PLEMetadata(tokens, starts, lens, self.context, is_decode=False)
        batch = DecodeBatch(False, self.requests, self.requests, len(lens), tokens)
        with self.table.forward_host_ctx(batch, use_graph=False):
            rows = self.table.lookup(self.embedding.row_ids(meta))
            last = starts[1:] - 1
            self.input_ids.copy_(self.model(tokens[last], lambda: rows[last]))
            roll_context(meta, out=self.context)
        sampled = self.input_ids.tolist()
        for req, token in zip(self.requests, sampled, strict=True):
            req.cached_len, req.device_len = req.device_len, req.device_len + 1
            req.input_ids = torch.cat([req.input_ids, torch.tensor([token])])

    def capture(self) -> torch.cuda.CUDAGraph:
        """Capture one step. Warmed up first, on a stream of its own, with the state put back."""
        saved = self.input_ids.clone(), self.context.clone()
        with torch.cuda.stream(side := torch.cuda.Stream()):
            side.wait_stream(torch.cuda.default_stream())
            self._step()
        torch.cuda.current_stream().wait_stream(side)
        self.input_ids.copy_(saved[0])
        self.context.copy_(saved[1])
        self._graph = graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        return graph

    def _step(self) -> None:
        meta = PLEMetadata(
            self.input_ids, self._starts, (1,) * len(self.requests), self.context, is_decode=True
        )
        if self.table.reads_row_ids:
            self.embedding.row_ids(meta, out=self.row_ids)
        sampled = self.model(self.input_ids, lambda: self.table.lookup(self.row_ids, out=self.rows))
        if self.table.reads_row_ids:
            roll_context(meta, out=self.context)
        self.input_ids.copy_(sampled)

    def decode(self, steps: int, after_launch: Callable[[int], None] | None = None) -> None:
        """Run `steps` overlapped steps; `after_launch(k)` may queue work behind step k's graph."""
        graph = self._graph or self.capture()
        for step in range(steps):
            self._launch(graph, step)
            if after_launch is not None:
                after_launch(step)
            if step:
                self._collect(step - 1)
        if steps:
            self._collect(steps - 1)

    def batch(self) -> DecodeBatch:
        """The next step, as the table is told of it."""
        return DecodeBatch(True, self.requests, self.requests, len(self.requests), self.input_ids)

    def _launch(self, graph: torch.cuda.CUDAGraph, step: int) -> None:
        with self.table.forward_host_ctx(self.batch(), use_graph=True):
            graph.replay()
        self._sampled[step % 2].copy_(self.input_ids, non_blocking=True)
        self._done[step % 2].record()
        for req in self.requests:
            req.device_len += 1

    def _collect(self, step: int) -> None:
        """Wait for a step and append its tokens to the requests.

        The newest fill comes first. It waits for that same step, then the device waits for it; this thread,
        awake at the same moment, would keep the interpreter from it.
        """
        self.table.await_fill()
        self._done[step % 2].synchronize()
        for req, token in zip(self.requests, self._sampled[step % 2].tolist(), strict=True):
            req.input_ids = torch.cat([req.input_ids, torch.tensor([token])])
