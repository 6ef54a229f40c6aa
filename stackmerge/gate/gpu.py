"""The GPU guard, through NVML: which GPUs there are, who holds their memory, and when it is free.

A server that was told to stop lets go of its memory some time after its process is gone, and tests that start
before fail with out-of-memory errors that mean nothing. So the guard waits for the memory itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from stackmerge.errors import StackmergeError

_POLL_S = 0.5


@dataclass(frozen=True)
class Holder:
    """A process that holds memory of a GPU; ``used`` in bytes, 0 where the driver does not say."""

    pid: int
    name: str
    used: int

    def __str__(self) -> str:
        amount = f" {self.used / 2**30:.1f} GiB" if self.used else ""
        return f"{self.name} (pid {self.pid}){amount}"


@dataclass(frozen=True)
class Device:
    """One GPU: memory in bytes, 0 where the driver does not say."""

    uuid: str
    name: str
    total: int
    free: int
    driver: str
    holders: tuple[Holder, ...] = ()


class GpuBusy(StackmergeError):
    """No GPU has the memory that a gate needs, and the time limit is over."""


def devices() -> list[Device]:
    """The GPUs that NVML shows and CUDA_VISIBLE_DEVICES allows; none where there is no driver."""
    try:
        import pynvml
    except ImportError:
        return []
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    try:
        driver = _text(pynvml.nvmlSystemGetDriverVersion())
        found = [_device(pynvml, i, driver) for i in range(pynvml.nvmlDeviceGetCount())]
    except pynvml.NVMLError:  # a GPU that does not even have a name is not there for a gate
        return []
    finally:
        pynvml.nvmlShutdown()
    return _visible(found)


def _device(nvml, index: int, driver: str) -> Device:  # type: ignore[no-untyped-def]
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        total, free = int(memory.total), int(memory.free)
    except nvml.NVMLError:  # "Not Supported" where the memory is the CPU's too
        total = free = 0
    try:
        running = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except nvml.NVMLError:
        running = []
    holders = tuple(Holder(p.pid, _process_name(p.pid), p.usedGpuMemory or 0) for p in running)
    uuid, name = _text(nvml.nvmlDeviceGetUUID(handle)), _text(nvml.nvmlDeviceGetName(handle))
    return Device(uuid, name, total, free, driver, holders)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _process_name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm") as file:  # noqa: PTH123 - procfs
            return file.read().strip()
    except OSError:
        return "a process that cannot be seen from here"


def _visible(found: list[Device]) -> list[Device]:
    """Honour CUDA_VISIBLE_DEVICES: indices or starts of UUIDs."""
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        return found
    kept = []
    for word in filter(None, allowed.split(",")):
        if word.isdigit():
            kept += found[int(word) : int(word) + 1]
        else:
            kept += [device for device in found if device.uuid.startswith(word)]
    return kept


def wait_for(
    needed: int,
    limit_s: float,
    tell: Callable[[str], None] = lambda _: None,
    look: Callable[[], list[Device]] = devices,
) -> Device | None:
    """The GPU with the most free memory, as soon as that is at least ``needed`` bytes. None where there is no GPU.

    Raises GpuBusy after ``limit_s`` seconds, naming who holds the memory, and at once where no GPU is large enough or
    the driver says nothing of memory.
    """
    deadline = time.monotonic() + limit_s
    while True:
        found = look()
        if not found:
            return None
        best = max(found, key=lambda device: (device.free, device.total))
        if best.free >= needed:
            return best
        if not best.total:
            raise GpuBusy(f"the driver does not say how much memory {best.name} has", "leave out `vram_free`")
        if max(device.total for device in found) < needed:
            raise GpuBusy(
                f"no GPU has {needed / 2**30:.1f} GiB at all", "lower `vram_free`, or use another machine"
            )
        if time.monotonic() >= deadline:
            raise _busy(best, needed, limit_s)
        tell(f"waiting for {needed / 2**30:.1f} GiB on {best.name}: {_held(best)}")
        time.sleep(_POLL_S)


def _held(device: Device) -> str:
    who = ", ".join(map(str, device.holders)) or "somebody who cannot be seen from here"
    return f"{device.free / 2**30:.1f} GiB are free; held by {who}"


def _busy(device: Device, needed: int, limit_s: float) -> GpuBusy:
    return GpuBusy(
        f"{device.name} did not free {needed / 2**30:.1f} GiB within {limit_s:.0f} s: {_held(device)}",
        "stop what holds it, perhaps in the gate's `before`, or raise `vram_wait`",
    )
