"""A gate does not outlive stackmerge or its supervisor, whenever those are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from stackmerge.gate import runner
from stackmerge.gate.execute import Ended, execute

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a parent's death is told by Linux alone")


def wait_for(path: Path) -> int:
    """The process id in a file, once it is there."""
    until = time.monotonic() + 30
    while not (path.exists() and path.read_text().strip()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return int(path.read_text())


def is_gone(pid: int) -> bool:
    """Has a process ended, or does it within five seconds?"""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            if ") Z " in Path(f"/proc/{pid}/stat").read_text():
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_a_supervisor_whose_parent_is_gone_starts_nothing(tmp_path: Path) -> None:
    """As when stackmerge is killed between the start of its supervisor and the first thing that this does."""
    with subprocess.Popen(["true"]) as gone:
        pass
    request = {
        "argv": ["touch", "started"],
        "cwd": str(tmp_path),
        "env": dict(os.environ),
        "timeout": 30,
        "log": str(tmp_path / "log"),
        "limit": 1000,
        "keep": False,
        "parent": gone.pid,
    }
    whole = json.dumps(request).encode()
    for asked in (whole, whole[:20], b""):
        command = [sys.executable, "-I", str(runner.__file__)]
        done = subprocess.run(command, input=asked, check=False, timeout=60, capture_output=True)
        assert (done.stdout, done.stderr) == (b"", b"")
        assert not (tmp_path / "started").exists()


def kill_child(name: bytes) -> None:
    """SIGKILL to the child of this process that has ``name`` in its command line."""
    for listing in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        for pid in listing.read_text().split():
            if name in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(int(pid), signal.SIGKILL)


def test_a_gate_dies_with_its_supervisor(tmp_path: Path) -> None:
    mark, ended = tmp_path / "pid", []

    def gate() -> None:
        argv = ["sh", "-c", f"echo $$ > {mark}; exec sleep 60"]
        ended.append(execute(argv, tmp_path, dict(os.environ), timeout=60, log=tmp_path / "log"))

    thread = threading.Thread(target=gate)
    thread.start()
    pid = wait_for(mark)
    kill_child(b"runner.py")
    thread.join(30)
    assert ended == [Ended(error="its supervisor was killed")]
    assert is_gone(pid)
