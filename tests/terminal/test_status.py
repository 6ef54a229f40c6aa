"""`status` from another process: of a rebuild that runs, that stopped, that was killed or interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from stackmerge.progress import presence
from stackmerge.progress.event import Note, Stage, silent
from stackmerge.progress.process import Process, this_process
from tests.gate.test_gating import shell, stack
from tests.report.test_report import conflicted_stack
from tests.sandbox import Sandbox
from tests.terminal.pseudo import on_a_terminal
from tests.terminal.stacks import REBUILD, TOP, rebuilding, status_with_line, talking


def test_a_running_rebuild(fork: Sandbox) -> None:
    talking(fork, seconds=120)
    with rebuilding(fork) as process:
        found = status_with_line(fork, "line 1")
        shown = fork.stackmerge("status").err
        assert process.poll() is None
    assert found["status"] == "running"
    assert found["process"] == {"pid": process.pid, "host": os.uname().nodename, "alive": True}
    assert found["stage"] == "gating"
    assert found["step"] == {"number": 1, "of": 4, "name": "one"}
    assert (found["gate"]["step"], found["gate"]["gate"]) == ("one", "talks")
    assert 0 < found["gate"]["elapsed_s"] < 30
    assert [step["outcome"] for step in found["steps"]] == ["clean"] * 4
    assert f"{TOP}{found['base'][:12]}: gating step 1 of 4, one" in shown
    assert "  4 clean\n" in shown
    assert "  gate talks on one" in shown
    assert "  | line 1 漢字" in shown
    assert f": process {process.pid}\n" in shown


def test_a_killed_rebuild_is_dead(fork: Sandbox) -> None:
    talking(fork, seconds=120)
    with rebuilding(fork) as process:
        status_with_line(fork, "line 1")
        process.send_signal(signal.SIGKILL)
        process.wait()
    ran = fork.stackmerge("status")
    assert f"interrupted in the gate talks on one: its process {process.pid} is dead" in ran.err
    assert "`stackmerge continue` goes on from there" in ran.err
    assert TOP not in ran.err
    found = fork.stackmerge("status", "--json").json
    assert (found["status"], found["next"]) == ("interrupted", "stackmerge continue")
    assert found["process"]["alive"] is False


def test_a_number_that_another_process_got_is_not_taken_for_the_rebuild(fork: Sandbox) -> None:
    talking(fork, seconds=120)
    with rebuilding(fork):
        status_with_line(fork, "line 1")
    path = fork.path / ".git/stackmerge/deploy/running.json"
    left = json.loads(path.read_text())
    left["process"]["pid"] = os.getpid()
    path.write_text(json.dumps(left))
    assert fork.stackmerge("status", "--json").json["process"]["alive"] is False
    left["process"]["host"] = "another"
    path.write_text(json.dumps(left))
    found = fork.stackmerge("status", "--json").json
    assert (found["status"], found["process"]["alive"]) == ("running", None)


@pytest.mark.parametrize("damaged", ["", "[]", "{}", '{"gate": 3, "process": {}}', "\0"])
def test_a_damaged_file_says_nothing(fork: Sandbox, damaged: str) -> None:
    stack(fork, [])
    assert fork.stackmerge("rebuild").code == 0
    (fork.path / ".git/stackmerge/deploy/running.json").write_text(damaged)
    assert fork.stackmerge("status", "--json").json["status"] == "complete"


def test_a_stopped_and_a_done_rebuild(fork: Sandbox) -> None:
    stack(fork, [{"name": "no-two", "run": shell("test ! -f two.txt")}])
    assert fork.stackmerge("rebuild").code == 5
    found = fork.stackmerge("status", "--json").json
    assert (found["status"], found["next"]) == ("gate", "stackmerge continue")
    assert "process" not in found
    assert "stopped at two: the gate no-two failed" in fork.stackmerge("status").err
    fork.stackmerge("continue", "--accept-failure", "known")
    fork.stackmerge("continue", "--accept-failure", "known")
    found = fork.stackmerge("status", "--json").json
    assert (found["status"], found["state"], found["next"]) == ("complete", "accepted", "")


def test_nothing_is_left_by_a_rebuild_that_ends_or_fails(fork: Sandbox) -> None:
    conflicted_stack(fork)
    assert fork.stackmerge("rebuild", "--from", "nobody").code == 2
    assert not (fork.path / ".git/stackmerge/deploy/running.json").exists()


def test_watching_ends_with_the_rebuild(fork: Sandbox) -> None:
    talking(fork)
    with rebuilding(fork):
        status_with_line(fork, "")
        views: list[list[str]] = []
        watch = [*REBUILD[:-1], "status", "--watch"]
        shown = on_a_terminal(watch, fork.path, fork.environment, views.append)
    assert any("gate talks on three" in "".join(rows) for rows in views)
    assert TOP not in "".join(shown.rows)
    assert any(row.startswith("accepted: deploy at") for row in shown.rows)


def test_watching_from_a_script_waits_for_the_end(fork: Sandbox) -> None:
    talking(fork)
    with rebuilding(fork):
        status_with_line(fork, "")
        ran = fork.stackmerge("status", "--watch", "--json")
    assert (ran.json["status"], ran.json["state"]) == ("complete", "accepted")


def test_ten_writes_a_second_and_the_newest_in_the_end(tmp_path: Path) -> None:
    writes = 0
    with presence.Presence(tmp_path, silent) as at:
        before = presence.read(tmp_path)
        for n in range(1000):
            at(Note("one", "unit", str(n)))
            found = presence.read(tmp_path)
            writes, before = writes + (found != before), found
        time.sleep(0.11)
        at(Note("one", "unit", "last"))
        assert presence.read(tmp_path) != before
        at(Stage("proving"))
        assert getattr(presence.read(tmp_path), "stage", "") == "proving"
    assert writes < 10
    assert presence.read(tmp_path) is None


def test_a_directory_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    told: list[object] = []
    with presence.Presence(tmp_path / "missing", told.append) as at:
        at(Stage("proving"))
    assert told == [Stage("proving")]


def test_processes() -> None:
    own = this_process()
    assert own.alive is True
    assert Process(own.pid, own.host, "1").alive is False
    assert Process(own.pid, "elsewhere", own.started).alive is None
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert Process(child.pid, own.host, "0").alive is False, "a zombie is not at work"
    child.wait()
