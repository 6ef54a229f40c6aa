"""The thread that fills: jobs in order, their errors kept for the engine thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue

_Job = tuple[Callable[[], None], "Future[None]"]


class Filler:
    """The `ple-filler` thread. The row store is used on it alone, so fills never overlap."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="ple-filler", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], None]) -> Future[None]:
        """Queue `job` behind those already there."""
        future: Future[None] = Future()
        self._jobs.put((job, future))
        return future

    def _run(self) -> None:
        while (item := self._jobs.get()) is not None:
            job, future = item
            try:
                job()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(None)

    def close(self, timeout: float = 10.0) -> None:
        """Finish the queued jobs and end the thread; RuntimeError if it does not end in `timeout` seconds."""
        self._jobs.put(None)
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise RuntimeError(f"ple-filler: a job still runs after {timeout:.0f} s; its stream may be stuck")


class PendingFill:
    """A fill that was submitted before its launch. `cancel` it when the launch fails."""

    def __init__(self, future: Future[None], cancelled: threading.Event, forget: Callable[[], None]) -> None:
        self._future, self._cancelled, self._forget = future, cancelled, forget

    def cancel(self) -> None:
        """Wait the fill out and undo its signal; its error is dropped, the launch's is the one to show."""
        self._cancelled.set()
        self._future.exception()
        self._forget()
