"""Where the Triton kernel runs on this machine."""

from __future__ import annotations

import torch


def hash_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def describe_hash_device() -> str:
    """As a report should call it: without a GPU, the kernel is interpreted."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU, Triton interpreter"
