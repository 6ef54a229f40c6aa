"""The live view on a real terminal: always there, always in one place, and nothing of it left behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from rich.cells import cell_len

from tests.gate.test_gating import shell, stack
from tests.sandbox import Sandbox
from tests.terminal.stacks import REBUILD, TOP, talking
from tests.terminal.tmux import Pane, needs_tmux, running

pytestmark = needs_tmux


def done(screen: list[str]) -> bool:
    return any(row.startswith("DONE") for row in screen)


def sampled(pane: Pane) -> list[list[str]]:
    """Every screen from the first that shows the view to the last before the rebuild ends."""
    screens = list(pane.samples(done))
    first = next(i for i, screen in enumerate(screens) if TOP in "".join(screen))
    last = max(i for i, screen in enumerate(screens) if TOP in "".join(screen))
    return screens[first : last + 1]


def test_the_view_stays_where_it_is_and_never_goes(fork: Sandbox) -> None:
    talking(fork)
    with running(REBUILD, fork.path, fork.environment) as pane:
        screens = sampled(pane)
    assert len(screens) > 50
    for screen in screens:
        shown = "\n".join(screen)
        assert [i for i, row in enumerate(screen) if TOP in row] == [0], shown
        assert all(not row for row in screen[4:]), shown
        assert all(cell_len(row) <= 80 for row in screen), shown
    seen = {row for screen in screens for row in screen}
    assert any("gating step 3 of 4, three" in row for row in seen)
    assert any("4 clean; gates: 2 passed" in row for row in seen)
    assert any("gate talks on two" in row for row in seen)
    assert any(row.startswith("  | line 2 漢字") and row.endswith("漢\u2026") for row in seen)
    assert "  | red 2" in seen


def test_nothing_is_wrapped_and_nothing_is_left(fork: Sandbox) -> None:
    talking(fork)
    with running(REBUILD, fork.path, fork.environment) as pane:
        for _ in pane.samples(done):
            rows, lines = pane.rows_and_lines()
            assert rows == lines
        left = [line for line in pane.everything() if line]
    assert TOP not in "".join(left)
    assert "  | " not in "".join(left)
    assert left[0].split() == ["step", "outcome", "commit"]
    assert [line.split()[1] for line in left if " clean " in line] == ["one", "two", "three", "four"]
    assert "gate talks: passed on CPU: 4 steps" in left
    assert left[-1] == "DONE 0"


def test_at_the_bottom_of_a_full_screen(fork: Sandbox) -> None:
    talking(fork)
    with running(["sh", "-c", f"seq 100; {' '.join(REBUILD)}"], fork.path, fork.environment) as pane:
        for screen in sampled(pane):
            assert [i for i, row in enumerate(screen) if TOP in row] == [19], "\n".join(screen)
        left = pane.everything()
    numbers = [line for line in left if line.isdecimal()]
    assert numbers == [str(n) for n in range(1, 101)]


def test_interrupted(fork: Sandbox) -> None:
    talking(fork, seconds=20)
    with running(REBUILD, fork.path, fork.environment) as pane:
        pane.wait("gate talks on one")
        pane.keys("C-c")
        pane.wait("DONE")
        left = [line for line in pane.everything() if line]
    assert left == ["warning: interrupted; `stackmerge continue` goes on", "DONE 130"]
    status = fork.stackmerge("status")
    assert "interrupted" in status.err
    assert "nobody is at work on it" in status.err


def test_stopped_and_gone_on_with_by_the_shell(fork: Sandbox) -> None:
    talking(fork, seconds=4)
    with running(["bash", "--norc", "-i"], fork.path, fork.environment | {"PS1": "$ "}) as pane:
        pane.keys(" ".join(REBUILD), "Enter")
        pane.wait("gate talks on one")
        pane.keys("C-z")
        stopped = pane.wait("Stopped")
        assert TOP not in "\n".join(stopped)
        pane.keys("fg", "Enter")
        for _ in range(3):
            screen = pane.wait(TOP)
            assert sum(TOP in row for row in screen) == 1
        pane.keys("C-c")
        assert TOP not in "\n".join(pane.wait("warning: interrupted"))


def test_a_narrower_window(fork: Sandbox) -> None:
    talking(fork, seconds=6)
    with running(REBUILD, fork.path, fork.environment) as pane:
        pane.wait("gate talks on one")
        pane.tmux("resize-window", "-x", "50", "-y", "20")
        screen = pane.wait("gate talks on two")
        assert sum("rebuilding deploy" in row for row in screen) == 1, "\n".join(screen)
        assert all(cell_len(row) <= 50 for row in screen)


def test_ended_by_a_signal(fork: Sandbox) -> None:
    talking(fork, seconds=60)
    with running(REBUILD, fork.path, fork.environment) as pane:
        pane.wait("gate talks on one")
        found = fork.stackmerge("status", "--json").json
        os.kill(found["process"]["pid"], signal.SIGTERM)
        pane.wait("DONE")
        left = [line for line in pane.everything() if line]
    assert left[-1] == f"DONE {128 + signal.SIGTERM}"
    assert TOP not in "".join(left)
    assert "dead" in fork.stackmerge("status").err


def test_a_gate_by_hand_is_shown_too(fork: Sandbox) -> None:
    talking(fork)
    assert fork.stackmerge("rebuild", "--gates", "off").code == 0
    with running([*REBUILD[:-1], "gate", "two"], fork.path, fork.environment) as pane:
        screens = list(pane.samples(done))
        left = [line for line in pane.everything() if line]
    assert any("gating deploy: two" in screen[0] for screen in screens)
    assert left == ["gate talks: passed on CPU: two", "DONE 0"]


def test_nothing_of_a_gate_outlives_an_interrupt(fork: Sandbox) -> None:
    stack(fork, [{"name": "stays", "run": shell("echo $$; exec sleep 1000")}], ("one",))
    with running(REBUILD, fork.path, fork.environment) as pane:
        pid = next(
            int(row[4:])
            for screen in pane.samples(
                lambda screen: screen[3].startswith("  | ") and screen[3][4:].isdecimal()
            )
            if (row := screen[3])[4:].isdecimal()
        )
        pane.keys("C-c")
        pane.wait("DONE 130")
    assert not Path(f"/proc/{pid}").exists()
