"""The GPU guard against a real driver: it waits for memory that another process holds. Skips without a GPU."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stackmerge.gate import gpu
from tests.sandbox import Sandbox
from tests.terminal.pseudo import on_a_terminal

DEVICES = gpu.devices()
pytestmark = pytest.mark.skipif(not DEVICES, reason="no GPU: NVML shows none")

HOLD = """
import sys, time, torch
free, _ = torch.cuda.mem_get_info()
held = torch.empty(int(free * 0.9), dtype=torch.uint8, device="cuda")
print("holding", flush=True)
sys.stdin.readline()
time.sleep(float(sys.argv[1]))
"""


def holder(seconds: float) -> subprocess.Popen[str]:
    """A process that holds nine tenths of the GPU's free memory until it is told to let go, and some seconds more."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "holding\n"
    return child


def stack(fork: Sandbox, wait: str, gates: list[dict[str, Any]] | None = None) -> None:
    fork.commit({"base": "base\n"}, "base")
    fork.git("tag", "v1")
    fork.branch("one", "v1", {"one": "one\n"}, "one")
    needed = f"{DEVICES[0].total // 2**30 // 2} GiB"
    requires = {"gpu": "required", "vram_free": needed, "vram_wait": wait}
    check = "import os, torch; assert os.environ['CUDA_VISIBLE_DEVICES'].startswith('GPU-'); torch.zeros(9).cuda()"
    gate = {"name": "cuda", "run": ["{python}", "-c", check], "requires": requires}
    made = {
        "stack": "deploy",
        "base": "v1",
        "steps": [{"name": "one", "merge": "one"}],
        "gates": gates or [gate],
    }
    fork.manifest(json.dumps(made))


def test_the_guard_waits_for_the_memory_and_goes_on_when_it_is_free(fork: Sandbox) -> None:
    stack(fork, "120 s")
    child = holder(3)
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()
    ran = fork.stackmerge("rebuild", "--json", "--require-gpu")
    assert child.wait() == 0
    assert ran.code == 0, ran.err
    assert ran.json["gates"][0]["words"] == f"passed on {DEVICES[0].name}"
    assert ran.json["proven_on_gpu"]


def test_a_limit_ends_the_wait_and_names_the_holder(fork: Sandbox) -> None:
    stack(fork, "2 s")
    child = holder(0)
    try:
        ran = fork.stackmerge("rebuild", "--json", "--require-gpu")
    finally:
        child.communicate("go\n")
    assert ran.code == 5
    words = ran.json["gates"][0]["words"]
    assert words.startswith(f"not run ({DEVICES[0].name} did not free ")
    assert Path(sys.executable).name[:6] in words or "pid" in words


def test_the_view_shows_the_memory_that_a_gate_takes(fork: Sandbox) -> None:
    """4 GiB more in use while the gate holds them, of what NVML says that the GPU has."""
    before = gpu.devices()[0]
    hold = "import time, torch; x = torch.empty(2**32, dtype=torch.uint8, device='cuda'); print('held'); time.sleep(5)"
    gate = {"name": "cuda", "run": ["{python}", "-u", "-c", hold], "requires": {"gpu": "required"}}
    stack(fork, "120 s", [gate])
    views: list[list[str]] = []
    rebuild = [sys.executable, "-m", "stackmerge", "rebuild", "--require-gpu"]
    shown = on_a_terminal(rebuild, fork.path, fork.environment, views.append)
    assert shown.code == 0, shown.raw
    held = [rows for rows in views if rows[3] == "  | held"]
    used, total = re.findall(r"GPU ([\d.]+) of ([\d.]+)", held[-1][1])[0]
    assert float(used) - (before.total - before.free) / 2**30 > 3.9
    assert float(total) == round(before.total / 2**30, 1)
    assert f"gate cuda on one, {before.name}" in held[-1][2]
