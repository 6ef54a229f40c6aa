"""A test harness: an asynchronous, in-order stream on the CPU, with the events and memory that go with it.

A CPU has no asynchronous device, so the order of things that a table must get right cannot be had there.
This stands in for the stream, and for nothing else: the table under test runs its own code, on its own
threads. What it keeps of CUDA:

- a launch returns at once; work runs later, in order, on a thread of its own;
- an event's `record` stores a stream position, `synchronize` waits for all work before its last record;
- a graph waits for the flag, reads the staging memory, and resets the flag;
- a copy from or to pinned memory with `non_blocking` is queued, and reads memory when it runs.

What it makes stricter, so that a race is lost every time and not now and then:

- work runs no earlier than somebody waits for it;
- another thread's wait ends only while the engine thread is itself waiting. With `prompt`, the engine's wait
  then lasts until the newest fill has raised the flag; without, every fill is as late as can be.

A stream position counts launches: position 2 is the end of the second.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

import torch

_PATIENCE = 5.0  # seconds before a wait counts as hung, where the harness cannot see it sooner
_GRACE = 0.25  # seconds for which another thread's wait gives the engine thread the right of way
_SETTLE = 1.0  # seconds that a prompt engine gives the newest fill
_POLL = 0.0005


class FakeStream:
    """See the module. The thread that makes it is the engine thread; `close` it at the end."""

    def __init__(self, flag: torch.Tensor, *, polite: bool = False, prompt: bool = False) -> None:
        self.flag = flag
        self.launches = 0
        self.done = 0
        self._polite, self._prompt = polite, prompt
        self._work: list[Callable[[], None]] = []
        self._wanted = 0
        self._engine = threading.current_thread()
        self._engine_waits = self._engine_blocked = False
        self._flag_waits = False
        self._stopped = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="fake-stream", daemon=True)
        self._thread.start()

    # Queueing

    def queue(self, work: Callable[[], None]) -> int:
        """Queue work that waits for nothing, such as a copy; returns how much is queued now."""
        with self._changed:
            self._work.append(work)
            return len(self._work)

    def launch(self, read: Callable[[], None], *, waits: bool = True) -> int:
        """Queue a graph: wait for the flag, `read` the staging, reset the flag. Returns like `queue`."""

        def graph() -> None:
            if waits:
                self._await_flag()
            read()
            if waits:
                self.flag.zero_()

        self.launches += 1
        return self.queue(graph)

    def queued(self) -> int:
        with self._changed:
            return len(self._work)

    # Waiting

    def wait(self, until: int, timeout: float = _PATIENCE) -> bool:
        """The engine thread waits until `until` pieces of work are done; False when they are not in time."""
        with self._changed:
            self._engine_waits = self._engine_blocked = True
            self._want(until)
            reached = self._changed.wait_for(lambda: self.done >= until, timeout)
            self._engine_blocked = False
            if reached and self._prompt:
                self._settle()
            self._engine_waits = False
            return reached

    def _settle(self) -> None:
        deadline = time.monotonic() + _SETTLE
        while self.done < len(self._work) and int(self.flag[0]) == 0 and time.monotonic() < deadline:
            self._changed.wait(_POLL)

    def synchronize(self) -> None:
        """Wait for everything queued; what a blocking read from the device does."""
        self._await(self.queued, lambda: self.launches)

    def await_event(self, event: FakeEvent) -> None:
        self._await(lambda: event.work, lambda: event.position)

    def _await(self, work: Callable[[], int], position: Callable[[], int]) -> None:
        """Wait for `work()`, asked anew each time: an event may be recorded again meanwhile."""
        start = time.monotonic()
        own_thread = threading.current_thread() is self._engine
        with self._changed:
            while self.done < work() or (work() and not own_thread and self._must_yield(start)):
                if self._stopped:
                    raise TimeoutError("the fake stream was closed under a wait")
                self._want(work())
                late = time.monotonic() - start > _PATIENCE
                if self.done < work() and (late or (self._is_stuck() and not own_thread)):
                    raise TimeoutError(
                        f"a fill waited on stream position {position()}, which never completed"
                    )
                self._changed.wait(_POLL)

    def _is_stuck(self) -> bool:
        """The device waits for a fill, the engine for the device, and the fill, which asks, for it too."""
        return self._flag_waits and self._engine_blocked and int(self.flag[0]) == 0

    def _must_yield(self, start: float) -> bool:
        return self._polite and not self._engine_waits and time.monotonic() - start < _GRACE

    def _want(self, until: int) -> None:
        self._wanted = max(self._wanted, until)
        self._changed.notify_all()

    # The device

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._stopped or self.done < min(self._wanted, len(self._work))
                )
                if self._stopped:
                    return
                work = self._work[self.done]
            work()
            with self._changed:
                self.done += 1
                self._changed.notify_all()

    def _await_flag(self) -> None:
        with self._changed:
            self._flag_waits = True
            while int(self.flag[0]) != 1 and not self._stopped:
                self._changed.wait(_POLL)
            self._flag_waits = False

    def close(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._thread.join()


class FakeEvent:
    """An event of one fake stream. Before its first record it waits for nothing."""

    def __init__(self, stream: FakeStream) -> None:
        self._stream = stream
        self.work = 0
        self.position = 0

    def record(self, stream: object = None) -> None:  # noqa: ARG002
        self.work, self.position = self._stream.queued(), self._stream.launches

    def synchronize(self) -> None:
        self._stream.await_event(self)

    def query(self) -> bool:
        return self._stream.done >= self.work


class FakeStore:
    """Row store of a context of two tokens: the row of a token is its window, as one int64.

    While `hold` is clear, fills of other threads wait; `flushing` tells that one began; `fail` is raised by the
    next one.
    """

    def __init__(self) -> None:
        self.hold = threading.Event()
        self.hold.set()
        self.flushing = threading.Event()
        self.fail: Exception | None = None
        self._engine = threading.current_thread()
        self._staged: list[tuple[int, list[int]]] = []

    def stage(self, tokens_addr: int, n: int, staging_addr: int) -> None:
        tokens = list((ctypes.c_int64 * (n + 2)).from_address(tokens_addr))
        self._staged.append((staging_addr, [window(*tokens[i : i + 3]) for i in range(n)]))

    def flush(self, signal_addr: int) -> None:
        staged, self._staged = self._staged, []
        if threading.current_thread() is not self._engine:
            self.flushing.set()
            self.hold.wait(_PATIENCE)
        error, self.fail = self.fail, None
        if error is not None:
            raise error
        for address, rows in staged:
            ctypes.memmove(address, (ctypes.c_int64 * len(rows))(*rows), 8 * len(rows))
        if signal_addr:
            ctypes.c_int64.from_address(signal_addr).value = 1

    def close(self) -> None: ...


def window(*tokens: int) -> int:
    """One number for three tokens below 10,000."""
    return tokens[0] * 10**8 + tokens[1] * 10**4 + tokens[2]


def async_memory(
    stream: FakeStream, data: torch.Tensor, log: list[torch.Tensor] | None = None
) -> torch.Tensor:
    """`data` as memory at one end of the stream: non_blocking copies from it are queued.

    Anything else that looks at its values waits for the stream first, as it would with device memory; but
    with `log` it is host memory, which nothing waits for. Queued copies append what they read to `log`.
    """

    class AsyncMemory(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name, kwargs = getattr(func, "__name__", ""), kwargs or {}
            if name == "copy_" and isinstance(args[1], cls) and _non_blocking(args, kwargs):
                with torch._C.DisableTorchFunctionSubclass():
                    target, source = args[0], args[1].as_subclass(torch.Tensor)
                stream.queue(lambda: _copy(target, source, log))
                return target
            views = ("__getitem__", "__get__", "data_ptr", "numel", "size", "view", "reshape", "dim")
            if log is None and name not in views:
                stream.synchronize()
            return super().__torch_function__(func, types, args, kwargs)  # type: ignore[no-untyped-call]

    return data.as_subclass(AsyncMemory)


def _non_blocking(args: Any, kwargs: Any) -> bool:
    return bool(kwargs.get("non_blocking", args[2] if len(args) > 2 else False))


def _copy(target: torch.Tensor, source: torch.Tensor, log: list[torch.Tensor] | None) -> None:
    target.copy_(source)
    if log is not None:
        log.append(source.clone())
