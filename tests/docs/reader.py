"""Somebody who does what a page says: types its commands in order, in one place, and looks at what they show."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.docs.page import Command, File, parts

_VARIES = (
    (re.compile(r"\b\d+\.\d+ s\b"), "N s"),
    (re.compile(r"(?<=passed on )[^:(|]+(?=: | \|)"), "DEVICE"),  # a GPU, or the CPU
    (re.compile(r"^(?:not proven on a GPU|\*\*Not proven on a GPU\*\*): .*\n", re.MULTILINE), ""),
)


@dataclass(frozen=True)
class Done:
    """A command and what it did: exit code, standard output and standard error as they came."""

    command: Command
    code: int
    output: str

    @property
    def problem(self) -> str:
        """What is not as the page says; empty where all is."""
        if self.code != self.command.code:
            return f"$ {self.command.text}\nexited with {self.code}\n{self.output}"
        if self.command.shown is None:
            return ""
        want = normalised("".join(f"{line}\n" for line in self.command.shown))
        got = normalised(self.output)
        checker = doctest.OutputChecker()
        if checker.check_output(want, got, doctest.ELLIPSIS):
            return ""
        example = doctest.Example(self.command.text, want)
        return f"$ {self.command.text}\n{checker.output_difference(example, got, doctest.ELLIPSIS)}"


def normalised(output: str) -> str:
    """An output without what differs from run to run and from machine to machine."""
    lines = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
    for pattern, word in _VARIES:
        lines = pattern.sub(word, lines)
    return lines


class Reader:
    """Works in ``place``; `cd` counts for the commands after it.

    ``aliases`` are names that pages use for what has another name here: directories, addresses.
    """

    def __init__(self, place: Path, environment: dict[str, str], aliases: dict[str, str]) -> None:
        self.place = place
        self._aliases = aliases
        programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self._environment = environment | {"PATH": programs, "PYTHONUNBUFFERED": "1"}
        self._note = Path(environment["HOME"]) / "place"

    def follow(self, page: Path) -> list[Done]:
        """Do everything that a page says."""
        done = []
        for part in parts(page):
            if isinstance(part, File):
                self._write(part)
            else:
                done.append(self._type(part))
        return done

    def _write(self, file: File) -> None:
        path = self.place / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text(encoding="utf-8") if file.append else ""
        path.write_text(before + self._real(file.text), encoding="utf-8")

    def _type(self, command: Command) -> Done:
        script = f"trap 'pwd >\"$NOTE\"' EXIT\n{self._real(command.text)}"
        ran = subprocess.run(
            ["bash", "-c", script], cwd=self.place, env=self._environment | {"NOTE": str(self._note)},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        self.place = Path(self._note.read_text().removesuffix("\n"))
        output = ran.stdout.decode(errors="replace")
        for name, real in self._aliases.items():
            output = output.replace(real, name)
        return Done(command, ran.returncode, output)

    def _real(self, text: str) -> str:
        for name, real in self._aliases.items():
            text = text.replace(name, real)
        return text
