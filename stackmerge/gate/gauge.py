"""How much memory of the GPUs is used, looked at again and again while a gate runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stackmerge.gate import gpu


@dataclass(frozen=True)
class Memory:
    """Memory of one GPU in bytes."""

    used: int
    total: int


class Gauge:
    """Reads NVML, which it keeps open; there is nothing to read where there is no GPU or no driver."""

    def __init__(self) -> None:
        import pynvml

        self._nvml = pynvml
        self._handles: list[Any] = []
        try:
            visible = gpu.devices()
            pynvml.nvmlInit()
            self._handles = [pynvml.nvmlDeviceGetHandleByUUID(device.uuid) for device in visible]
        except pynvml.NVMLError:
            return

    def read(self) -> Sequence[Memory]:
        """The GPUs that CUDA_VISIBLE_DEVICES allows; empty where the driver does not say."""
        try:
            found = [self._nvml.nvmlDeviceGetMemoryInfo(handle) for handle in self._handles]
        except self._nvml.NVMLError:
            return ()
        return [Memory(int(one.used), int(one.total)) for one in found]
