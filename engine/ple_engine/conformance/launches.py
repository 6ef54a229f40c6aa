"""Counting launches: by the profiler; without a GPU, interpreted kernels and the tensor work around them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_NO_LAUNCH = tuple(
    f"aten.{name}" for name in ("empty", "new_empty", "detach", "view", "slice", "select", "alias", "expand")
)


def count_launches(call: Callable[[], Any]) -> list[str]:
    """The names of everything that `call` launches."""
    return _profiled(call) if torch.cuda.is_available() else _interpreted(call)


def _profiled(call: Callable[[], Any]) -> list[str]:
    call()  # compile, and fill any cache, before counting
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        call()
        torch.cuda.synchronize()
    return [event.name for event in profile.events() if str(event.device_type).endswith("CUDA")]


def _interpreted(call: Callable[[], Any]) -> list[str]:
    from triton.runtime import interpreter

    launched: list[str] = []
    run = interpreter.GridExecutor.__call__

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        launched.append(self.fn.__name__)
        return run(self, *args, **kwargs)

    class Operations(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if not _called_by(interpreter.__file__) and not str(func).startswith(_NO_LAUNCH):
                launched.append(str(func))
            return func(*args, **(kwargs or {}))

    interpreter.GridExecutor.__call__ = counted
    try:
        with Operations():  # type: ignore[no-untyped-call]
            call()
    finally:
        interpreter.GridExecutor.__call__ = run
    return launched


def _called_by(file: str) -> bool:
    """Whether `file` is on the stack: the interpreter copies its arguments by tensor operations."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == file:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
