"""`--events`: each line is JSON, and all of them together say what --json says of the same rebuild."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.gate.test_gating import shell, stack
from tests.report.test_report import conflicted_stack
from tests.sandbox import Sandbox
from tests.terminal.stacks import REBUILD, STEPS, talking


def events(path: Path) -> list[Any]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    times = [datetime.fromisoformat(event["time"]) for event in found]
    assert all(time.utcoffset() == timedelta(0) for time in times)
    assert times == sorted(times)
    return found


def named(found: list[Any], name: str) -> list[Any]:
    return [event for event in found if event["event"] == name]


def without(event: dict[str, Any], *more: str) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key not in ("event", "time", *more)}


def test_they_agree_with_json(fork: Sandbox, tmp_path: Path) -> None:
    talking(fork, seconds=1.5)
    ran = fork.stackmerge("rebuild", "--json", "--events", str(tmp_path / "events"))
    found = events(tmp_path / "events")
    assert ran.code == 0
    assert [without(event, "number") for event in named(found, "step_end")] == ran.json["steps"]
    assert [without(event) for event in named(found, "gate_end")] == ran.json["gates"]
    (start,), (end,) = named(found, "start"), named(found, "end")
    assert (found[0], found[-1]) == (start, end)
    assert start["steps"] == list(STEPS)
    for key in ("stack", "base"):
        assert start[key] == ran.json[key]
    for key in ("status", "state", "tip", "tree", "elapsed_s"):
        assert end[key] == ran.json[key]
    assert end["exit_code"] == 0
    assert [e["number"] for e in named(found, "step_start")] == [1, 2, 3, 4]
    assert [e["step"] for e in named(found, "gate_start")] == list(STEPS)


def test_lines_of_a_gate_at_most_one_a_second(fork: Sandbox, tmp_path: Path) -> None:
    script = "for i in $(seq 25); do echo line $i; sleep 0.1; done"
    stack(fork, [{"name": "talks", "run": shell(script)}], ("one",))
    assert fork.stackmerge("rebuild", "--events", str(tmp_path / "events")).code == 0
    lines = named(events(tmp_path / "events"), "gate_line")
    assert 2 <= len(lines) <= 4
    assert all(event["line"].startswith("line ") and event["gate"] == "talks" for event in lines)
    gaps = [b["elapsed_s"] - a["elapsed_s"] for a, b in pairwise(lines)]
    assert all(gap >= 0.99 for gap in gaps)


def test_a_stop_says_why(fork: Sandbox, tmp_path: Path) -> None:
    stack(fork, [{"name": "no-two", "run": shell("test ! -f two.txt")}])
    ran = fork.stackmerge("rebuild", "--json", "--events", str(tmp_path / "events"))
    found = events(tmp_path / "events")
    (stop,), (end,) = named(found, "stop"), named(found, "end")
    assert (stop["status"], stop["step"], stop["worktree"]) == ("gate", "two", ran.json["worktree"])
    assert (end["status"], end["exit_code"]) == ("gate", 5)
    assert named(found, "gate_end")[-1]["words"] == "failed (exit status 1)"


def test_continue_tells_what_is_left(fork: Sandbox, tmp_path: Path) -> None:
    stack(fork, [{"name": "no-two", "run": shell("test ! -f two.txt")}])
    fork.stackmerge("rebuild")
    ran = fork.stackmerge(
        "continue", "--accept-failure", "known", "--events", str(tmp_path / "events"), "--json"
    )
    found = events(tmp_path / "events")
    assert found[0]["done"] == ["one", "two", "three"]
    last = {(e["step"], e["gate"]): without(e) for e in named(found, "gate_end")}
    assert list(last.values()) == ran.json["gates"]


def test_on_standard_output(fork: Sandbox) -> None:
    conflicted_stack(fork)
    ran = fork.stackmerge("rebuild", "--events", "-")
    assert [json.loads(line)["event"] for line in ran.out.splitlines()][-1] == "end"
    both = fork.stackmerge("rebuild", "--events", "-", "--json")
    assert both.code == 2
    assert "--events - and --json both want standard output" in both.err


def test_errors_are_the_last_event(fork: Sandbox, tmp_path: Path) -> None:
    conflicted_stack(fork)
    path = tmp_path / "events"
    ran = fork.stackmerge("rebuild", "--onto", "nowhere", "--events", str(path), "--json")
    (end,) = events(path)
    assert (end["status"], end["exit_code"]) == ("error", ran.code)
    assert (end["error"], end["hint"]) == (ran.json["error"], ran.json["hint"])


def test_an_interrupted_rebuild_says_so(fork: Sandbox, tmp_path: Path) -> None:
    talking(fork, seconds=60)
    path = tmp_path / "events"
    process = subprocess.Popen(
        [*REBUILD, "--events", str(path)], cwd=fork.path, env=fork.environment, stderr=subprocess.PIPE
    )
    while not path.exists() or "gate_line" not in path.read_text():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1] == b"warning: interrupted; `stackmerge continue` goes on\n"
    assert events(path)[-1]["status"] == "interrupted"
    assert process.returncode == events(path)[-1]["exit_code"] == 130


def test_a_file_that_cannot_be_written(fork: Sandbox, tmp_path: Path) -> None:
    conflicted_stack(fork)
    ran = fork.stackmerge("rebuild", "--events", str(tmp_path / "no" / "file"))
    assert ran.code == 2
    assert "--events: cannot write" in ran.err


def test_a_reader_that_goes_away_stops_nothing(fork: Sandbox) -> None:
    talking(fork, seconds=0.2)
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [*REBUILD, "--events", "-"],
        cwd=fork.path,
        env=fork.environment,
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    os.close(reader)
    said = process.communicate()[1].decode()
    assert process.returncode == 0, said
    assert said.count("--events: nothing more can be written") == 1
