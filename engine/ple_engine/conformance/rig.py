"""A disk table without its constructor, its stream and its store faked, and the engine's part played."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from ple_engine.conformance.fake_stream import FakeEvent, FakeStore, FakeStream, async_memory, window
from ple_engine.conformance.targets import Target

EOS = 9
_ROW_BYTES = 8  # one int64 per token, see FakeStore
_STAGED_TOKENS = 8


class EagerBuffers(list[torch.Tensor]):
    """Two eager buffers; a tree that knows one takes the first, and races as it would in production."""

    def data_ptr(self) -> int:
        return int(self[0].data_ptr())

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(0)[key] if isinstance(key, slice) else super().__getitem__(key)


class Rig:
    """One request, decoded step by step: step k's input is token 100+k, sampled by the graph before it."""

    def __init__(self, table: Any, stream: FakeStream, store: FakeStore) -> None:
        self.table, self.stream, self.store = table, stream, store
        self.copied: list[torch.Tensor] = []
        self.read: list[int] = []
        self.tokens = [1, 2, 3]
        self._device_ids = torch.tensor([100], dtype=torch.int32)
        self._step = 0

    def request(self) -> Any:
        """What the engine knows as a step begins: the newest token is on the device alone."""
        return SimpleNamespace(
            input_ids=torch.tensor([*self.tokens, 0]),
            device_len=len(self.tokens) + 1,
            cached_len=len(self.tokens),
        )

    def decode_step(self, launch: Callable[[], None] | None = None) -> int:
        """Fill and launch a step; returns how much the stream has to do until its graph has run.

        `launch` stands in for a launch that fails, by raising.
        """
        req = self.request()
        ids = async_memory(self.stream, self._device_ids)
        batch = SimpleNamespace(is_decode=True, reqs=[req], padded_reqs=[req], padded_size=1, input_ids=ids)
        with self.table.forward_host_ctx(batch, use_graph=True):
            if launch is not None:
                launch()
            until = self.stream.launch(self._graph, waits=self.table._wait_sync)
        # The engine moves on at once: whatever a fill still needs of the request, it must have taken.
        self.tokens.append(100 + self._step)
        req.input_ids.fill_(7777)
        req.device_len += 1
        self._step += 1
        return until

    def _graph(self) -> None:
        """Read the staged row, sample the next token."""
        self.read.append(int(self.table._graph_pinned.view(torch.int64)[0]))
        self._device_ids += 1

    def expected(self, steps: int) -> list[int]:
        history = [1, 2, 3, *(100 + k for k in range(steps))]
        return [window(*history[k + 1 : k + 4]) for k in range(steps)]

    def decode_overlapped(self, steps: int) -> None:
        """Decode with at most one launch ahead of the device; a fill's error is raised at the next step."""
        before = 0
        for step in range(steps):
            launched = self.decode_step()
            assert self.stream.wait(before), f"decode hung: the graph of step {step} never completed"
            self.raise_failed_fill()
            before = launched
        assert self.stream.wait(before), "decode hung: the last graph never completed"
        self.raise_failed_fill()

    def raise_failed_fill(self) -> None:
        getattr(self.table, "_raise_failed_fill", lambda: None)()

    def eager_step(self, first: int) -> list[int]:
        """One fresh request of three tokens through a prefill; returns the rows that its copy must read."""
        req = SimpleNamespace(input_ids=torch.arange(first, first + 3), device_len=3, cached_len=0)
        batch = SimpleNamespace(
            is_decode=False, reqs=[req], padded_reqs=[req], padded_size=1, input_ids=req.input_ids
        )
        with self.table.forward_host_ctx(batch, use_graph=False):
            self.table.lookup(torch.zeros((3, 1), dtype=torch.int64))
        history = [EOS, EOS, *req.input_ids.tolist()]
        return [window(*history[i : i + 3]) for i in range(3)]


@contextmanager
def make_rig(
    target: Target, *, wait_sync: bool = True, polite: bool = False, prompt: bool = False
) -> Iterator[Rig]:
    """A rig on the target's table, torch.cuda's streams and events replaced while it lasts."""
    flag = torch.zeros(1, dtype=torch.int64)
    stream = FakeStream(flag, polite=polite or prompt, prompt=prompt)
    store = FakeStore()
    cls: Any = target.disk_row_table()
    table: Any = cls.__new__(cls)
    rig = Rig(table, stream, store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "current_stream", lambda *_: stream)
        patch.setattr(torch.cuda, "Event", lambda *_, **__: FakeEvent(stream))
        patch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
        _furnish(rig, flag, wait_sync)
        try:
            yield rig
        except BaseException:
            with suppress(Exception):  # the failure that is on its way is the one to show
                _end(rig)
            raise
        _end(rig)


def _end(rig: Rig) -> None:
    rig.store.hold.set()
    rig.stream.close()  # first: after a failure, a fill may still wait for it
    getattr(rig.table, "close", lambda: None)()


def _furnish(rig: Rig, flag: torch.Tensor, wait_sync: bool) -> None:
    """The attributes that either tree's class uses; `_graph_consumed` is the fence, should it be back."""
    table, stream, room = rig.table, rig.stream, _STAGED_TOKENS * _ROW_BYTES
    table._device = torch.device("cpu")
    table._wait_sync = wait_sync
    table._flag = flag
    table._store = rig.store
    table._token_readback = torch.zeros(_STAGED_TOKENS, dtype=torch.int32)
    table._graph_pinned = torch.zeros(room, dtype=torch.uint8)
    table._graph_dev = torch.zeros(room, dtype=torch.uint8)
    buffers = [torch.zeros(room, dtype=torch.uint8) for _ in range(2)]
    table._eager_pinned = EagerBuffers(async_memory(stream, buffer, rig.copied) for buffer in buffers)
    table._eager_read = [FakeEvent(stream), FakeEvent(stream)]
    table._eager_slot = 0
    table._eager_dev = torch.zeros(room, dtype=torch.uint8)
    table._readback_event = FakeEvent(stream)
    table._graph_consumed = FakeEvent(stream)
    table._token_bytes = _ROW_BYTES
    table.eos_token_id = EOS
    table.image_token_id = None
    table.dtype = torch.float32
    table.scale = table._scale = 0.5
