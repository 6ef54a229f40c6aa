"""Rows of the n-gram embedding on disk: the host stages them in pinned memory, the launch copies them."""

import contextlib

import torch


class DiskRowTable:
    """Reads the rows of every forward from safetensors shards."""

    reads_row_ids = False
    context_len = 2

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
        self._eager_pinned = _pinned(max_tokens * self._token_bytes, torch.uint8)

    @contextlib.contextmanager
    def forward_host_ctx(self, batch, use_graph):
        """Surrounds a launch. A graph waits for its rows, so it is filled when its launch has returned."""
        if not (use_graph and self._wait_sync):
            self.fill(batch, batch.input_ids.tolist(), graph=use_graph)
            yield
            return
        readback = self._read_back(batch)
        yield
        readback.synchronize()
        self.fill(batch, self._token_readback[: batch.padded_size].tolist(), graph=True)

    def _read_back(self, batch):
        """Copy the sampled tokens to the host; the event says when they are there."""
        self._token_readback[: batch.padded_size].copy_(batch.input_ids, non_blocking=True)
        readback = torch.cuda.Event()
        readback.record(torch.cuda.current_stream(self._device))
        return readback

    def fill(self, batch, tokens, graph):
        """Read the rows of a batch into staging; for a graph, raise the flag that it waits for."""
        staging = self._graph_pinned if graph else self._eager_pinned
        address = staging.data_ptr()
        for req, token in zip(batch.reqs, tokens, strict=False):
            window = torch.tensor([*self._context(req), token])
            self._store.stage(window.data_ptr(), 1, address)
            address += self._token_bytes
        self._store.flush(self._flag.data_ptr() if graph and self._wait_sync else 0)

    def _context(self, req):
        """The tokens before the newest one, eos beyond the start."""
        known = req.input_ids[: req.device_len - 1][-self.context_len :].tolist()
        return [self.eos_token_id] * (self.context_len - len(known)) + known

    def lookup(self, row_ids, out):
        """Copy the staged rows to the device, inside a graph or out of it."""
        staging = self._graph_pinned if torch.cuda.is_current_stream_capturing() else self._eager_pinned
        out.copy_(staging[: out.numel()].view(out.shape), non_blocking=True)
        return out


def _pinned(elements, dtype):
    return torch.zeros(elements, dtype=dtype, pin_memory=True)
