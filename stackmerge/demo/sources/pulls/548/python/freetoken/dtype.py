"""Which floating-point type a GPU computes in."""

from __future__ import annotations


def compute_dtype(capability: tuple[int, int], wanted: str = "bfloat16") -> str:
    """bfloat16 where the GPU has it (compute capability 8.0), else float16."""
    return "float16" if wanted == "bfloat16" and capability < (8, 0) else wanted
