"""Compiling kernels when they are first used, for the GPU that is there."""

from __future__ import annotations

KNOWN = {
    (7, 5): "sm_75",
    (8, 0): "sm_80",
    (8, 6): "sm_86",
    (8, 9): "sm_89",
    (9, 0): "sm_90",
    (10, 0): "sm_100",
    (12, 0): "sm_120",
}


def arch_of(capability: tuple[int, int]) -> str:
    """The architecture to compile for: the newest known one that the GPU can run."""
    fitting = [known for known in KNOWN if known <= capability]
    if not fitting:
        raise ValueError(f"no kernels for compute capability {capability[0]}.{capability[1]}")
    return KNOWN[max(fitting)]


def compile_flags(capability: tuple[int, int], debug: bool = False) -> list[str]:
    """What the compiler is called with."""
    arch = arch_of(capability)
    suffix = "a" if capability >= (9, 0) else ""  # the features of that architecture alone
    flags = [f"-arch={arch}{suffix}", "-std=c++17"]
    return [*flags, "-G"] if debug else [*flags, "-O3"]
