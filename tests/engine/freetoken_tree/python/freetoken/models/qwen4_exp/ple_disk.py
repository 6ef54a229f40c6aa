"""The table on disk: graph fills run on a thread of their own, submitted before the launch."""

import queue
import threading
from concurrent.futures import Future
from contextlib import contextmanager

import torch


class DiskRowTable:
    def __init__(self, store, token_bytes, device):
        self._store, self._token_bytes, self._device = store, token_bytes, device
        self._eager_read = [torch.cuda.Event(), torch.cuda.Event()]
        self._eager_slot = 0

    def _filler(self):
        jobs = self.__dict__.get("_jobs")
        if jobs is None:
            jobs = self._jobs = queue.SimpleQueue()
            self._thread = threading.Thread(target=self._run, args=(jobs,), name="ple-filler", daemon=True)
            self._thread.start()
        return jobs

    def _run(self, jobs):
        while (item := jobs.get()) is not None:
            job, future = item
            try:
                future.set_result(job())
            except BaseException as error:
                future.set_exception(error)

    def _submit(self, job):
        future = Future()
        self._filler().put((job, future))
        return future

    def close(self):
        jobs = self.__dict__.pop("_jobs", None)
        if jobs is not None:
            jobs.put(None)
            self._thread.join()

    def _raise_failed_fill(self):
        fills = self.__dict__.setdefault("_fills", [])
        while fills and fills[0].done():
            error = fills.pop(0).exception()
            if error is not None:
                raise error

    def fill(self, runs, *, graph):
        if graph:
            pinned = self._graph_pinned
        else:
            self._eager_slot ^= 1
            self._eager_read[self._eager_slot].synchronize()
            pinned = self._eager_pinned[self._eager_slot]
        at = pinned.data_ptr()
        for run in runs:
            self._store.stage(run.data_ptr(), run.numel() - 2, at)
            at += (run.numel() - 2) * self._token_bytes
        self._store.flush(self._flag.data_ptr() if graph and self._wait_sync else 0)

    def _context(self, ids, position):
        return [int(ids[p]) if p >= 0 else self.eos_token_id for p in (position - 2, position - 1)]

    def host_fill_batch(self, batch, use_graph):
        self._raise_failed_fill()
        if not batch.is_decode:
            runs = [
                torch.tensor(
                    [
                        *self._context(r.input_ids, r.cached_len),
                        *r.input_ids[r.cached_len : r.device_len].tolist(),
                    ]
                )
                for r in batch.padded_reqs
            ]
            self._submit(lambda: self.fill(runs, graph=False)).result()
            return None
        contexts = [self._context(r.input_ids, r.device_len - 1) for r in batch.reqs]
        if not (use_graph and self._wait_sync):
            tokens = batch.input_ids.to("cpu").tolist()
            runs = [torch.tensor([*c, t]) for c, t in zip(contexts, tokens, strict=False)]
            self._submit(lambda: self.fill(runs, graph=use_graph)).result()
            return None
        size = batch.padded_size
        self._token_readback[:size].copy_(batch.input_ids, non_blocking=True)
        readback = torch.cuda.Event()
        readback.record(torch.cuda.current_stream(self._device))
        cancelled = threading.Event()

        def job():
            try:
                readback.synchronize()
                if not cancelled.is_set():
                    tokens = self._token_readback[:size].tolist()
                    self.fill(
                        [torch.tensor([*c, t]) for c, t in zip(contexts, tokens, strict=False)], graph=True
                    )
            except BaseException:
                from freetoken.kernel import _ple_store

                _ple_store.signal_flag(self._flag.data_ptr())
                raise

        future = self._submit(job)
        self._fills.append(future)
        return future, cancelled

    @contextmanager
    def forward_host_ctx(self, batch, use_graph):
        pending = self.host_fill_batch(batch, use_graph)
        try:
            yield
        except BaseException:
            if pending is not None:
                pending[1].set()
                pending[0].exception()
                self._fills.remove(pending[0])
                self._flag.zero_()
            raise

    def lookup(self, row_ids, out=None):
        nbytes = row_ids.shape[0] * self._token_bytes
        staging = self._eager_dev[:nbytes]
        staging.copy_(self._eager_pinned[self._eager_slot][:nbytes], non_blocking=True)
        self._eager_read[self._eager_slot].record(torch.cuda.current_stream(self._device))
        values = staging.view(torch.float8_e4m3fn).to(self.dtype) * self.scale
        values = values.view(row_ids.shape[0], -1)
        return values if out is None else out.copy_(values)
