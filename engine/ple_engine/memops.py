"""Stream memory operations: the GPU waits for a flag in pinned memory, and clears it (CUDA driver API)."""

from __future__ import annotations

import os
from typing import Any

import torch

SYNC_ENV = "FREETOKEN_PLE_SYNC"
_WAIT_GEQ = 0  # CU_STREAM_WAIT_VALUE_GEQ
_WRITE_DEFAULT = 0  # CU_STREAM_WRITE_VALUE_DEFAULT


def wait_and_reset(stream: Any, flag: torch.Tensor) -> None:
    """Queue on `stream`: wait until `flag` (pinned int64) is 1 or more, then set it to 0. Can be captured."""
    driver = _driver()
    _check(driver.cuStreamWaitValue64(stream.cuda_stream, flag.data_ptr(), 1, _WAIT_GEQ))
    _check(driver.cuStreamWriteValue64(stream.cuda_stream, flag.data_ptr(), 0, _WRITE_DEFAULT))


def choose_wait_sync(device: torch.device) -> bool:
    """Whether graphs wait on a flag: as FREETOKEN_PLE_SYNC says (auto, wait, gate); auto tries it out.

    Raises ValueError for another word, RuntimeError where `wait` is asked for and the device cannot.
    """
    mode = os.environ.get(SYNC_ENV, "auto")
    if mode not in ("auto", "wait", "gate"):
        raise ValueError(f"{SYNC_ENV}={mode}: choose auto, wait or gate")
    if mode == "gate":
        return False
    problem = _probe(device)
    if problem and mode == "wait":
        raise RuntimeError(
            f"{SYNC_ENV}=wait, but {device} has no stream memory operations ({problem}); use auto"
        )
    return problem is None


def _probe(device: torch.device) -> str | None:
    """None when a wait and a reset run on the device, else why not."""
    flag = torch.ones(1, dtype=torch.int64).pin_memory()
    stream = torch.cuda.current_stream(device)
    try:
        wait_and_reset(stream, flag)
    except (ImportError, RuntimeError) as error:
        return str(error)
    stream.synchronize()
    return None if int(flag[0]) == 0 else "the flag was not reset"


def _driver() -> Any:
    from cuda.bindings import driver  # not on a machine without CUDA

    return driver


def _check(result: tuple[Any, ...]) -> None:
    if int(result[0]) != 0:
        raise RuntimeError(f"stream memory operation failed: {result[0]!r}")
