"""A gate as the manifest defines it."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from stackmerge.document import Node

_KEYS = ("name", "run", "on", "inputs", "requires", "timeout", "before", "after")
_UNITS = {"": 1, "s": 1, "min": 60, "h": 3600, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
DEFAULT_TIMEOUT = 3600.0
VRAM_WAIT = 600.0
PYTHON, JUNIT = "{python}", "{junit}"


class On(NamedTuple):
    """The steps that a gate is for: all of them where nothing is named."""

    steps: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    hazards: tuple[str, ...] = ()

    @property
    def everything(self) -> bool:
        return not (self.steps or self.paths or self.hazards)


class Requires(NamedTuple):
    """What must be there before a gate runs. ``gpu``: required, preferred or empty; ``vram_free`` in bytes."""

    gpu: str = ""
    vram_free: int = 0
    vram_wait: float = VRAM_WAIT
    env: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


class Gate(NamedTuple):
    """One gate. ``run``, ``before`` and ``after`` are argument vectors: no shell reads them.

    ``inputs`` are globs of the paths that its result depends on, empty for the whole tree; ``timeout`` in seconds.
    """

    name: str
    run: tuple[str, ...]
    on: On = On()
    inputs: tuple[str, ...] = ()
    requires: Requires = Requires()
    timeout: float = DEFAULT_TIMEOUT
    before: tuple[tuple[str, ...], ...] = ()
    after: tuple[tuple[str, ...], ...] = ()


def read(node: Node) -> Gate:
    """Read one entry of the manifest's ``gates``. Raises UsageError with file, line and key."""
    keys = node.map(_KEYS, required=("name", "run"))
    name = keys["name"].line_of_text()
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise keys["name"].error(
            f"{name!r} is not a gate's name", "use letters, digits, dots, dashes and underscores"
        )
    return Gate(
        name=name,
        run=_command(keys["run"]),
        on=_on(keys["on"]) if "on" in keys else On(),
        inputs=keys["inputs"].list(Node.line_of_text) if "inputs" in keys else (),
        requires=_requires(keys["requires"]) if "requires" in keys else Requires(),
        timeout=_amount(keys["timeout"], "s", "min", "h") if "timeout" in keys else DEFAULT_TIMEOUT,
        before=_commands(keys["before"]) if "before" in keys else (),
        after=_commands(keys["after"]) if "after" in keys else (),
    )


def _on(node: Node) -> On:
    if node.value == "all":
        return On()
    keys = node.map(("steps", "paths", "hazards"))
    return On(**{key: inner.list(Node.line_of_text) for key, inner in keys.items()})


def _requires(node: Node) -> Requires:
    keys = node.map(("gpu", "vram_free", "vram_wait", "env", "programs"))
    return Requires(
        gpu=keys["gpu"].one_of(("required", "preferred")) if "gpu" in keys else "",
        vram_free=int(_amount(keys["vram_free"], "MiB", "GiB")) if "vram_free" in keys else 0,
        vram_wait=_amount(keys["vram_wait"], "s", "min", "h") if "vram_wait" in keys else VRAM_WAIT,
        env=keys["env"].list(Node.line_of_text) if "env" in keys else (),
        programs=keys["programs"].list(Node.line_of_text) if "programs" in keys else (),
    )


def _commands(node: Node) -> tuple[tuple[str, ...], ...]:
    return node.list(_command)


def _command(node: Node) -> tuple[str, ...]:
    """A command, with nothing to be put in but what is known."""
    words = _words(node)
    for word in words:
        if "\0" in word:
            raise node.error("has a zero byte, which no command can be given", "take it out")
        if re.fullmatch(r"\{[a-z_]+\}", word) and word not in (PYTHON, JUNIT):
            raise node.error(f"nothing is known to put in for {word}", f"write {PYTHON} or {JUNIT}")
    return words


def _words(node: Node) -> tuple[str, ...]:
    """A list of words, or text that is split as a shell would but that no shell runs."""
    if isinstance(node.value, list):
        return node.list(Node.text)
    try:
        words = tuple(shlex.split(node.text()))
    except ValueError as error:
        raise node.error(
            f"is not a command: {error}", "quote it as for a shell, or write a list of words"
        ) from error
    if not words:
        raise node.error("is empty", "write the command that the gate runs")
    return words


def _amount(node: Node, *units: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([A-Za-z]*)", node.text())
    unit = found[2] if found else "?"
    if not found or (unit not in units and not (unit == "" and "s" in units)):
        raise node.error(f"{node.value!r} is not an amount", f"write a number and one of: {', '.join(units)}")
    return float(found[1]) * _UNITS[unit]
