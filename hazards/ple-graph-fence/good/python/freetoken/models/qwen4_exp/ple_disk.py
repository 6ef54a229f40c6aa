"""Rows of the n-gram embedding on disk: the host stages them in pinned memory, the launch copies them."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import torch


class DiskRowTable:
    """Reads the rows of every forward from safetensors shards."""

    reads_row_ids = False
    context_len = 2
    _filler = None  # started by the first fill

    def __init__(self, store, spec, max_tokens, device, wait_sync):
        self._store = store
        self._device = device
        self._wait_sync = wait_sync
        self.eos_token_id = spec.eos_token_id
        self._token_bytes = spec.token_bytes
        self._flag = _pinned(1, torch.int64)
        self._token_readback = _pinned(max_tokens, torch.int64)

        # Fixed addresses: a captured graph keeps them.
        self._graph_pinned = _pinned(max_tokens * self._token_bytes, torch.uint8)
        self._eager_pinned = [_pinned(max_tokens * self._token_bytes, torch.uint8) for _ in range(2)]
        self._eager_read = [torch.cuda.Event(), torch.cuda.Event()]
        self._eager_slot = 0

    @contextlib.contextmanager
    def forward_host_ctx(self, batch, use_graph):
        """Surrounds a launch. A graph's fill is submitted first: the launch may block until the GPU drains."""
        if not (use_graph and self._wait_sync):
            contexts = [self._context(req) for req in batch.reqs]
            self.fill(contexts, batch.input_ids.tolist(), graph=use_graph)
            yield
            return
        contexts = [self._context(req) for req in batch.reqs]
        pending = self._submit(batch.padded_size, contexts, self._read_back(batch))
        try:
            yield
        except BaseException:
            pending.cancel()
            raise

    def _read_back(self, batch):
        """Copy the sampled tokens to the host; the event says when they are there."""
        self._token_readback[: batch.padded_size].copy_(batch.input_ids, non_blocking=True)
        readback = torch.cuda.Event()
        readback.record(torch.cuda.current_stream(self._device))
        return readback

    def _submit(self, size, contexts, readback):
        """Fill on the filler thread, as soon as the sampled tokens are on the host."""

        def job():
            readback.synchronize()
            self.fill(contexts, self._token_readback[:size].tolist(), graph=True)

        if self._filler is None:
            self._filler = ThreadPoolExecutor(1, thread_name_prefix="ple-filler")
        return self._filler.submit(job)

    def fill(self, contexts, tokens, graph):
        """Read the rows of a batch into staging; for a graph, raise the flag that it waits for."""
        staging = self._graph_pinned if graph else self._next_eager_buffer()
        address = staging.data_ptr()
        for context, token in zip(contexts, tokens, strict=False):
            window = torch.tensor([*context, token])
            self._store.stage(window.data_ptr(), 1, address)
            address += self._token_bytes
        self._store.flush(self._flag.data_ptr() if graph and self._wait_sync else 0)

    def _next_eager_buffer(self):
        """The buffer not used last, once the copy that last read it has run."""
        self._eager_slot ^= 1
        self._eager_read[self._eager_slot].synchronize()
        return self._eager_pinned[self._eager_slot]

    def _context(self, req):
        """The tokens before the newest one, eos beyond the start."""
        known = req.input_ids[: req.device_len - 1][-self.context_len :].tolist()
        return [self.eos_token_id] * (self.context_len - len(known)) + known

    def lookup(self, row_ids, out):
        """Copy the staged rows to the device, inside a graph or out of it."""
        capturing = torch.cuda.is_current_stream_capturing()
        staging = self._graph_pinned if capturing else self._eager_pinned[self._eager_slot]
        out.copy_(staging[: out.numel()].view(out.shape), non_blocking=True)
        if not capturing:
            self._eager_read[self._eager_slot].record(torch.cuda.current_stream(self._device))
        return out


def _pinned(elements, dtype):
    return torch.zeros(elements, dtype=dtype, pin_memory=True)
