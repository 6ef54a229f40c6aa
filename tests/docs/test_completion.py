"""Completion, as the three shells that typer knows ask for it; and in the shells themselves where they are here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.reference import built
from tests.sandbox import Sandbox

COMMANDS = {command.split()[1] for command in built() if " " in command}
REBUILD = {one.name for one in built()["stackmerge rebuild"]}
BIN = Path(sys.executable).parent


def ask(fork: Sandbox, *command: str, **variables: str) -> str:
    """Run a command where `stackmerge` is on the PATH; its standard output."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=fork.path, env={**fork.environment, "PATH": path, **variables}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_shell(fork: Sandbox, shell: str, script: str) -> str:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    return ask(fork, shell, "-c", script)


def script(fork: Sandbox, shell: str) -> str:
    """What `--show-completion` prints in a shell, whatever shell the tests run under."""
    return ask(
        fork, "stackmerge", "--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1"
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_and_options_are_offered(fork: Sandbox, shell: str) -> None:
    def offered(line: str) -> str:
        variables = {"_STACKMERGE_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
        words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        return ask(fork, "stackmerge", **variables, **words, _TYPER_COMPLETE_ARGS=line)

    assert {command for command in COMMANDS if command in offered("stackmerge ")} == COMMANDS
    assert {option for option in REBUILD if option in offered("stackmerge rebuild --")} == REBUILD
    assert "rebuild" not in offered("stackmerge hazards ")


def test_in_bash(fork: Sandbox) -> None:
    shown = in_shell(
        fork, "bash",
        script(fork, "bash") + "\nCOMP_WORDS=(stackmerge re); COMP_CWORD=1; _stackmerge_completion stackmerge\n"
        + "echo ${COMPREPLY[@]}",
    )  # fmt: skip
    assert shown.split() == ["rebuild", "report", "rerere"]


def test_in_fish(fork: Sandbox) -> None:
    shown = in_shell(fork, "fish", script(fork, "fish") + "\ncomplete -C 'stackmerge rebuild --fr'")
    assert [line.split("\t")[0] for line in shown.splitlines()] == ["--fresh", "--from"]


def test_in_zsh(fork: Sandbox) -> None:
    """Its script loads, and hands the function to zsh; what that answers with is tested above."""
    check = (
        '\nautoload -Uz compinit && compinit -u -d $HOME/dump && eval "$SCRIPT" && echo ${_comps[stackmerge]}'
    )
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    assert ask(fork, "zsh", "-c", check, SCRIPT=script(fork, "zsh")).strip() == "_stackmerge_completion"


def test_it_is_installed_for_the_shell_that_asks(fork: Sandbox) -> None:
    ask(fork, "stackmerge", "--install-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "stackmerge" in (fork.home / ".bashrc").read_text()
    assert (fork.home / ".bash_completions" / "stackmerge.sh").is_file()
