"""The thread that fills the staging memory, one job after the other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event


class PendingFill:
    """A fill that runs beside its launch."""

    def __init__(self, cancelled: Event, forget: Callable[[], None]) -> None:
        self._cancelled, self._forget = cancelled, forget

    def cancel(self) -> None:
        """Its launch failed: let the fill come to its end, and leave no trace of it."""
        self._cancelled.set()
        self._forget()


class Filler:
    """The ``ple-filler`` thread; the row store is used there alone."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ple-filler")
        self._submitted: list[Future[None]] = []

    def run(self, job: Callable[[], None]) -> None:
        """Run a job behind those queued, and wait for it."""
        self._thread.submit(job).result()

    def submit(self, job: Callable[[], None]) -> Future[None]:
        """Queue a job; ``raise_failed`` tells how it ended."""
        future = self._thread.submit(job)
        self._submitted.append(future)
        return future

    def forget(self, future: Future[None]) -> None:
        future.exception()
        self._submitted.remove(future)

    def raise_failed(self) -> None:
        """Raise the error of the oldest job that has failed since."""
        while self._submitted and self._submitted[0].done():
            self._submitted.pop(0).result()

    def close(self) -> None:
        self._thread.shutdown()
