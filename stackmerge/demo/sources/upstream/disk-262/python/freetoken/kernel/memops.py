"""Stream memory operations: the GPU waits for a flag in pinned memory, then clears it."""

from __future__ import annotations

import os


def available(device) -> bool:
    """Whether graphs wait for a flag: FREETOKEN_PLE_SYNC is auto, wait or gate."""
    mode = os.environ.get("FREETOKEN_PLE_SYNC", "auto")
    if mode == "auto":
        return device.type == "cuda" and _driver() is not None
    return mode == "wait"


def wait_and_reset(stream, flag) -> None:
    """Queue it on ``stream``, inside a capture too."""
    driver = _driver()
    driver.cuStreamWaitValue64(stream.cuda_stream, flag.data_ptr(), 1, 0)
    driver.cuStreamWriteValue64(stream.cuda_stream, flag.data_ptr(), 0, 0)


def _driver():
    try:
        from cuda.bindings import driver
    except ImportError:
        return None
    return driver
