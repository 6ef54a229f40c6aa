"""What a running gate printed last, from a log that may be long, coloured or hostile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stackmerge.gate import execute, runner
from stackmerge.gate.lastline import last_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"", ""),
        (b"one\ntwo\n\n  \n", "two"),
        (b"one\ntw", "tw"),
        (b"10%\r50%\r", "50%"),
        (b"a\r\nb\r\n", "b"),
        (b"\x1b[1;31mred\x1b[0m\n\x1b[0m\n", "red"),
        (b"\x1b]0;title\x07text\n", "text"),
        (b"\xff\n", "\ufffd"),
        (b"x" * 10_000 + b"\nend\n", "end"),
    ],
)
def test_last_line(tmp_path: Path, text: bytes, line: str) -> None:
    (tmp_path / "log").write_bytes(text)
    assert last_line(str(tmp_path / "log")) == line


def test_no_log(tmp_path: Path) -> None:
    assert last_line(str(tmp_path / "log")) == ""


def test_the_newest_line_is_seen_also_where_only_the_tail_is_kept(tmp_path: Path) -> None:
    """6 MB go by, of which the middle is left out; what is printed after that is seen at once."""
    log = tmp_path / "log"
    script = "yes 0123456789abcdef | head -c 5950000; echo after; read wait < ./fifo; echo end"
    subprocess.run(["mkfifo", str(tmp_path / "fifo")], check=True)
    request = {
        "argv": ["sh", "-c", script], "cwd": str(tmp_path), "env": {"PATH": "/usr/bin:/bin"}, "timeout": 60,
        "log": str(log), "limit": execute.LOG_LIMIT, "keep": False, "parent": os.getpid(),
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-I", runner.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin
    process.stdin.write(json.dumps(request).encode())
    process.stdin.close()
    deadline = time.monotonic() + 30
    while last_line(str(log)) != "after" and time.monotonic() < deadline:
        time.sleep(0.02)
    assert last_line(str(log)) == "after"
    (tmp_path / "fifo").write_text("go\n")
    process.wait(30)
    data = log.read_bytes()
    assert len(data) < execute.LOG_LIMIT + 200_000
    assert data.startswith(b"0123456789abcdef\n")
    assert data.count(b"bytes left out") == 1
    assert data.endswith(b"0123456789abcdef\nafter\nend\n")
    head, _, tail = data.partition(b"\n... ")
    left_out = int(tail.split(b" ")[0])
    kept = tail.partition(b"...\n")[2]
    assert len(head) + left_out + len(kept) == 5_950_000 + len("after\nend\n")
