"""Ctrl-C in a gate: the rebuild says how to go on, and does."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

from tests.sandbox import Sandbox


def test_an_interrupted_rebuild_says_how_to_go_on(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "base")
    fork.git("tag", "v1")
    fork.branch("one", "v1", {"b": "b\n"}, "one")
    begun = fork.path / "begun"
    wait = (
        f"import pathlib, time; p = pathlib.Path({str(begun)!r}); p.exists() or (p.touch(), time.sleep(60))"
    )
    gate = {"name": "slow", "run": ["{python}", "-c", wait]}
    made = {"stack": "deploy", "base": "v1", "steps": [{"name": "one", "merge": "one"}], "gates": [gate]}
    fork.manifest(json.dumps(made))
    command = [sys.executable, "-m", "stackmerge", "rebuild"]
    with subprocess.Popen(
        command, cwd=fork.path, env=fork.environment, stderr=subprocess.PIPE, text=True, process_group=0
    ) as child:
        while not begun.exists():
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
    assert child.returncode == 130, said
    assert "warning: interrupted; `stackmerge continue` goes on\n" in said
    assert "Traceback" not in said
    status = fork.stackmerge("status", "--json").json
    assert (status["status"], status["next"]) == ("interrupted", "stackmerge continue")
    assert "interrupted while it was gating" in fork.stackmerge("status").err
    gone_on = fork.stackmerge("continue", "--json")
    assert (gone_on.code, gone_on.json["status"]) == (0, "complete"), gone_on.err
