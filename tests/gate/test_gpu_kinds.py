"""Gates on GPUs that this machine need not have: a driver that answers as NVML documents is put in front of NVML."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.gate.test_gating import shell, stack
from tests.sandbox import Sandbox

DRIVER = """
class NVMLError(Exception): pass
class Memory:
    def __init__(self, total, free): self.total, self.free, self.used = total << 30, free << 30, (total - free) << 30
GPUS = {gpus}
def nvmlInit(): pass
def nvmlShutdown(): pass
def nvmlSystemGetDriverVersion(): return "570.1"
def nvmlDeviceGetCount(): return len(GPUS)
def nvmlDeviceGetHandleByIndex(index): return index
def nvmlDeviceGetMemoryInfo(index):
    if GPUS[index][1] is None: raise NVMLError("Not Supported")
    return Memory(*GPUS[index][1])
def nvmlDeviceGetComputeRunningProcesses(index): raise NVMLError("Not Supported")
def nvmlDeviceGetUUID(index): return f"GPU-{{index}}"
def nvmlDeviceGetName(index): return GPUS[index][0]
"""
A100, H200 = "NVIDIA A100", "NVIDIA H200"


def driver(fork: Sandbox, folder: Path, *gpus: tuple[str, tuple[int, int] | None]) -> None:
    """GPUs by name, with the GiB that each has and has free; None where the driver does not say."""
    (folder / "nvml").mkdir(exist_ok=True)
    (folder / "nvml" / "pynvml.py").write_text(DRIVER.format(gpus=repr(gpus)))
    # Of two drivers that are written in one second and have one size, Python would take the first for the second.
    fork.environment |= {"PYTHONPATH": str(folder / "nvml"), "PYTHONDONTWRITEBYTECODE": "1"}
    fork.environment.pop("CUDA_VISIBLE_DEVICES", None)


@pytest.mark.parametrize(
    ("requires", "words"),
    [
        ({"gpu": "required"}, "passed on NVIDIA GB10"),
        (
            {"gpu": "required", "vram_free": "1 GiB"},
            "not run (the driver does not say how much memory NVIDIA GB10 has)",
        ),
    ],
)
def test_a_gpu_that_shares_the_memory_of_the_cpu(
    fork: Sandbox, tmp_path: Path, requires: dict[str, str], words: str
) -> None:
    driver(fork, tmp_path, ("NVIDIA GB10", None))
    stack(fork, [{"name": "g", "run": "true", "requires": requires}], ("one",))
    assert fork.stackmerge("rebuild", "--json").json["gates"][0]["words"] == words


def test_of_two_kinds_the_result_holds_for_the_one_that_was_used(fork: Sandbox, tmp_path: Path) -> None:
    driver(fork, tmp_path, (A100, (80, 1)), (H200, (80, 70)))
    log = shell("echo $CUDA_VISIBLE_DEVICES")
    stack(fork, [{"name": "g", "run": log, "requires": {"gpu": "required"}}], ("one",))
    (first,) = fork.stackmerge("rebuild", "--json").json["gates"]
    assert (first["words"], first["environment"]["gpu"]) == (f"passed on {H200}", H200)
    assert Path(first["log"]).read_text() == "GPU-1\n"
    (known,) = fork.stackmerge("rebuild", "--fresh", "--json").json["gates"]
    assert (known["cached"], known["key"]) == (True, first["key"])

    driver(fork, tmp_path, (A100, (80, 1)))
    (other,) = fork.stackmerge("rebuild", "--fresh", "--json").json["gates"]
    assert (other["cached"], other["words"]) == (False, f"passed on {A100}")
    driver(fork, tmp_path, (H200, (80, 1)))
    (again,) = fork.stackmerge("rebuild", "--fresh", "--json").json["gates"]
    assert json.dumps(again, sort_keys=True) == json.dumps(known, sort_keys=True)
