"""The process that supervises one command of a gate: ``python -m stackmerge.gate.runner``.

It is a process of its own so that nothing which the command starts outlives it: it adopts orphans (daemons
too), kills all of them at the end, and dies with stackmerge. The request is JSON on standard input, the answer
JSON on standard output. It imports nothing of stackmerge: a gate's tree is not to be trusted near it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import IO, Any

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_GRACE_S = 3.0
_CHUNK = 65536
_SHOWN = 4096


class _Log:
    """Writes the head of a command's output to a file, and keeps the tail until the end.

    Meanwhile the newest output stands after the head, for whoever looks at the file.
    """

    def __init__(self, path: str, limit: int) -> None:
        self.file = Path(path).open("wb")  # noqa: SIM115 - closed in close()
        self._room = limit // 2
        self._tail: deque[bytes] = deque()
        self._kept = 0
        self._limit = limit // 2
        self._newest = b""
        self.dropped = 0

    def write(self, data: bytes) -> None:
        head, rest = data[: self._room], data[self._room :]
        self._room -= len(head)
        if head:
            self.file.write(head)
            self.file.flush()
        if rest:
            self._tail.append(rest)
            self._kept += len(rest)
            self._show(rest)
        while self._kept > self._limit + _CHUNK:
            gone = len(self._tail.popleft())
            self._kept -= gone
            self.dropped += gone

    def _show(self, newest: bytes) -> None:
        self._newest = (self._newest + newest)[-_SHOWN:]
        shown, at = b"\n" + self._newest, self.file.tell()
        os.pwrite(self.file.fileno(), shown, at)
        os.ftruncate(self.file.fileno(), at + len(shown))

    def close(self) -> None:
        if self._tail:
            self.file.truncate()
        if self.dropped:
            self.file.write(b"\n... %d bytes left out ...\n" % self.dropped)
        self.file.writelines(self._tail)
        self.file.close()


_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _prctl(option: int, value: int) -> None:
    if _LIBC:
        _LIBC.prctl(option, value, 0, 0, 0)


def _die_with(parent: int, how: signal.Signals) -> None:
    """Have ``how`` sent to this process when its parent ends; end at once where that has happened already."""
    _prctl(_PR_SET_PDEATHSIG, how)
    if os.getppid() != parent:
        os._exit(1)


def _descendants() -> set[int]:
    """Every process below this one."""
    found: set[int] = set()
    left = [os.getpid()]
    while left:
        parent = left.pop()
        for listing in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                children = [int(pid) for pid in listing.read_text().split()]
            except OSError:
                continue
            left += [pid for pid in children if pid not in found]
            found |= set(children)
    return found


def _kill_all() -> None:
    """Kill every descendant, again and again until none is left to fork another."""
    for _ in range(100):
        below = _descendants()
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def _terminate(process: subprocess.Popen[bytes]) -> None:
    """Ask politely first: a gate may want to stop its server."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(_GRACE_S)
    except (subprocess.TimeoutExpired, ProcessLookupError):
        pass


def _copy(stream: IO[bytes], log: _Log) -> None:
    while data := os.read(stream.fileno(), _CHUNK):
        log.write(data)


def supervise(request: dict[str, Any]) -> dict[str, Any]:
    """Run one command to its end or its time limit; how it ended."""
    log = _Log(request["log"], request["limit"])
    supervisor = os.getpid()
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            request["argv"],
            cwd=request["cwd"],
            env=request["env"],
            stdin=subprocess.DEVNULL,
            stdout=log.file if request["keep"] else subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: _die_with(supervisor, signal.SIGKILL),  # there is no other thread yet
        )
    except OSError as error:
        log.close()
        return {"error": f"{request['argv'][0]}: {error.strerror}"}
    reader = threading.Thread(target=_copy, args=(process.stdout, log), daemon=True)
    if process.stdout:
        reader.start()
    timed_out = False
    try:
        process.wait(request["timeout"])
    except subprocess.TimeoutExpired:
        timed_out = True
        _terminate(process)
    status = process.poll()
    if not request["keep"] or timed_out:
        _kill_all()
    if process.stdout:
        reader.join(5)
    log.close()
    return {
        "status": status,
        "timed_out": timed_out,
        "elapsed_s": time.monotonic() - started,
        "dropped": log.dropped,
    }


def _give_up(*_: object) -> None:
    _kill_all()
    os._exit(1)


def main() -> None:
    signal.signal(signal.SIGTERM, _give_up)
    try:
        request = json.load(sys.stdin)
    except ValueError:  # stackmerge was killed before it had asked for anything
        return
    _die_with(request["parent"], signal.SIGTERM)
    if not request["keep"]:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    json.dump(supervise(request), sys.stdout)


if __name__ == "__main__":
    main()
