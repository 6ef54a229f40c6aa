"""The GPU guard's waiting, on readings of a driver that this machine may not have.

The readings are the guard's own record of what NVML returns; the real driver is used by tests/gate/test_gpu_real.py.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stackmerge.gate import gpu
from stackmerge.gate.gpu import Device, GpuBusy, Holder

GIB = 2**30


def reading(*free_gib: int, total: int = 80, holder: str = "vllm") -> Device:
    return Device(
        "GPU-0", "NVIDIA Test", total * GIB, free_gib[0] * GIB, "1.0", (Holder(42, holder, 70 * GIB),)
    )


def replayed(*frees: int) -> Callable[[], list[Device]]:
    left = list(frees)
    return lambda: [reading(left.pop(0) if len(left) > 1 else left[0])]


def test_it_waits_until_the_memory_is_free_and_says_who_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "_POLL_S", 0.0)
    told: list[str] = []
    device = gpu.wait_for(20 * GIB, 60, told.append, replayed(2, 2, 70))
    assert device is not None
    assert device.free == 70 * GIB
    assert (
        told == ["waiting for 20.0 GiB on NVIDIA Test: 2.0 GiB are free; held by vllm (pid 42) 70.0 GiB"] * 2
    )


def test_the_limit_ends_the_wait_with_the_holder_named() -> None:
    with pytest.raises(
        GpuBusy, match=r"did not free 20\.0 GiB within 0 s: 2\.0 GiB are free; held by vllm \(pid 42\)"
    ):
        gpu.wait_for(20 * GIB, 0, look=replayed(2))


def test_a_gpu_that_is_too_small_is_not_waited_for() -> None:
    with pytest.raises(GpuBusy, match=r"no GPU has 100\.0 GiB at all"):
        gpu.wait_for(100 * GIB, 3600, look=replayed(2))


def test_the_freest_of_several_is_taken() -> None:
    two = [Device("a", "A", 80 * GIB, 3 * GIB, "1"), Device("b", "B", 80 * GIB, 60 * GIB, "1")]
    found = gpu.wait_for(1 * GIB, 0, look=lambda: two)
    assert found is not None
    assert found.uuid == "b"


def test_no_gpu_is_no_error() -> None:
    assert gpu.wait_for(GIB, 0, look=list) is None
