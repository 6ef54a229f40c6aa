"""Help names every command, wherever it is asked for."""

from __future__ import annotations

from tests.sandbox import Sandbox


def test_help_is_whole_whatever_follows_it(fork: Sandbox) -> None:
    whole = fork.stackmerge("--help")
    assert whole.code == 0
    assert fork.stackmerge("--help", "status") == whole
    assert fork.stackmerge("-h", "status") == whole
    for command in ("adopt", "rebuild", "hazards", "rerere", "publish"):
        assert f"\n  {command} " in whole.out


def test_help_of_a_command_is_its_own(fork: Sandbox) -> None:
    for command in ("rebuild", "hazards list"):
        first = fork.stackmerge(*command.split(), "--help").out.partition("\n")[0]
        assert first.endswith(f"stackmerge {command} [OPTIONS]")
