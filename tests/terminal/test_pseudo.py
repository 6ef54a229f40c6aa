"""The same view on a pseudo-terminal; plain terminals, NO_COLOR; and no escape code in anything that is piped."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.test_report import conflicted_stack
from tests.sandbox import Sandbox
from tests.terminal.pseudo import on_a_terminal
from tests.terminal.stacks import REBUILD, STEPS, TOP, talking

STYLE = re.compile(r"\x1b\[[\d;]*m")


def lasting(rows: list[str]) -> list[str]:
    return [row for row in rows if row]


def test_the_view_is_one_and_leaves_nothing(fork: Sandbox) -> None:
    talking(fork)
    views: list[list[str]] = []

    def look(rows: list[str]) -> None:
        if any(TOP in row for row in rows):
            views.append(rows)

    shown = on_a_terminal(REBUILD, fork.path, fork.environment, look)
    assert shown.code == 0, shown.raw
    assert len(views) > 10
    for rows in views:
        assert [i for i, row in enumerate(rows) if TOP in row] == [0]
        assert lasting(rows[4:]) == []
    assert any("gate talks on three" in rows[2] for rows in views)
    assert any(rows[3].startswith("  | ") and "漢" in rows[3] for rows in views)
    assert TOP not in "".join(shown.rows)
    assert [row.split()[1] for row in shown.rows if " clean " in row] == list(STEPS)
    assert "\\x1b" not in shown.raw, "colours of a gate are dropped, not shown as codes"
    assert "\x1b[2J" not in shown.raw, "a gate cannot clear the screen"


def test_json_on_a_pipe_while_the_view_is_on_the_terminal(fork: Sandbox, tmp_path: Path) -> None:
    talking(fork)
    with (tmp_path / "out").open("wb") as out:
        shown = on_a_terminal(
            [*REBUILD, "--json"], fork.path, fork.environment, stdout=out.fileno(), columns=60
        )
    assert TOP in shown.raw
    assert json.loads((tmp_path / "out").read_text())["status"] == "complete"


def test_events_on_the_same_terminal_are_whole_lines_above_the_view(fork: Sandbox) -> None:
    talking(fork)
    shown = on_a_terminal([*REBUILD, "--events", "-"], fork.path, fork.environment, columns=4000)
    assert TOP in shown.raw
    rows = [json.loads(row) for row in shown.rows if row.startswith("{")]
    assert rows[-1]["event"] == "end"
    assert not any(TOP in row for row in shown.rows)


@pytest.mark.parametrize("how", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_style_where_none_is_wanted(fork: Sandbox, how: dict[str, str]) -> None:
    talking(fork)
    shown = on_a_terminal(REBUILD, fork.path, fork.environment | how)
    assert shown.code == 0
    assert STYLE.findall(shown.raw) == []
    assert (TOP in shown.raw) == ("NO_COLOR" in how)


def test_a_dumb_terminal_gets_plain_lines(fork: Sandbox) -> None:
    talking(fork)
    shown = on_a_terminal(REBUILD, fork.path, fork.environment | {"TERM": "dumb"})
    assert "\x1b" not in shown.raw
    assert "gate talks on two ...\r\ngate talks on two: passed on CPU\r\n" in shown.raw


def test_colour_is_not_forced_on_a_pipe(fork: Sandbox) -> None:
    """Every command that prints: without a terminal there is no escape code, whatever the environment says."""
    fork.environment |= {
        "FORCE_COLOR": "1",
        "CLICOLOR_FORCE": "1",
        "TTY_COMPATIBLE": "1",
        "TERM": "xterm-256color",
    }
    conflicted_stack(fork)
    resolution = fork.stackmerge("rerere", "list", "--json").json["resolutions"][0]["id"]
    commands = (
        f"rerere show {resolution}",
        "plan", "status", "rebuild --fresh --keep-going", "rebuild --json", "rebuild --events -", "verify",
        "gate", "undo --list", "undo", "accept", "continue", "abort", "doctor", "rerere list", "hazards list",
        "hazards check", "describe", "report --out r.html", "rebuild --onto nowhere", "bisect echo", "--help",
        "train v1..deploy", "status --watch", "update", "rebuild --no-such-option",
    )  # fmt: skip
    for command in commands:
        ran = fork.stackmerge(*command.split(), cwd=fork.path)
        assert "\x1b" not in ran.out + ran.err, command
        assert ran.out + ran.err, command


def test_every_command_is_named_above() -> None:
    """The list of commands in the test before is whole but for those that need a forge, a server or a remote."""
    from typer.main import get_command

    from stackmerge.cli import app

    found = set(get_command(app).commands)  # type: ignore[attr-defined]
    source = Path(__file__).read_text()
    assert found - {"publish", "bench", "demo", "adopt"} <= set(re.findall(r"[\w-]+", source))


def test_no_view_and_no_thread_without_a_terminal(fork: Sandbox) -> None:
    talking(fork, seconds=0.1)
    code = (
        "import sys, threading; from stackmerge import cli, gated\n"
        "real = gated.gate_run\n"
        "def look(*a):\n"
        "    print(threading.active_count(), 'rich' in sys.modules, 'pynvml' in sys.modules); return real(*a)\n"
        "gated.gate_run = look; cli.main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "rebuild"],
        cwd=fork.path,
        env=fork.environment,
        capture_output=True,
        text=True,
    )
    assert ran.stdout == "1 False False\n", ran.stderr
