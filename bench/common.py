"""What the benchmarks of stackmerge share: commands with their time and memory, git, and tables."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BASE = "1a3e64c6c4a623626ff0687008732a8e007e2a1c"
TIP = "be84a0ce2be0412dc968431d410b7408f576dad0"
QUIET = ("gc.auto=0", "maintenance.auto=false", "advice.detachedHead=false", "core.hooksPath=/dev/null")
WHO = {"NAME": "Bench", "EMAIL": "bench@localhost"}


@dataclass(frozen=True)
class Ran:
    """A command that ran to its end: its time, the CPU time of all its processes, and its largest process."""

    seconds: float
    cpu: float
    peak_mb: float
    status: int
    out: bytes

    @property
    def text(self) -> str:
        return self.out.decode(errors="surrogateescape").strip()


def run(
    command: Sequence[str | Path],
    *,
    git: str = "git",
    cwd: Path | None = None,
    stdin: bytes = b"",
    ok: Sequence[int] = (0,),
) -> Ran:
    """Run a command in a clean environment. Exits with what it said when its status is not in ``ok``."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        begin = time.perf_counter()
        child = subprocess.Popen(command, stdin=given, stdout=out, stderr=err, cwd=cwd, env=environment(git))
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode not in ok:
            words = " ".join(map(str, command))
            sys.exit(f"{words}: exit status {child.returncode}\n{err.read().decode(errors='replace')}")
        cpu = usage.ru_utime + usage.ru_stime
        return Ran(seconds, cpu, usage.ru_maxrss / 1024, child.returncode, out.read())


def environment(git: str) -> dict[str, str]:
    """The caller's environment without its git settings; Python keeps its compiled modules, as for a user."""
    found = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PYTHONDONTWRITE"))}
    people = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in WHO.items()}
    return {
        **found,
        **people,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_EDITOR": ":",
        "LC_ALL": "C",
        "STACKMERGE_GIT": git,
    }


def stackmerge(repository: Path, *args: str, git: str = "git", ok: Sequence[int] = (0,)) -> Ran:
    """Run ``stackmerge ARGS --repo REPOSITORY --json`` as a process of its own."""
    command = [sys.executable, "-P", "-m", "stackmerge", *args, "--repo", repository, "--json"]
    return run(command, git=git, ok=ok)


def answer(ran: Ran) -> dict[str, Any]:
    return dict(json.loads(ran.out))


def together(parts: Iterable[Ran]) -> Ran:
    """Commands that ran one after the other, as one."""
    ran = list(parts)
    return Ran(sum(r.seconds for r in ran), sum(r.cpu for r in ran), max(r.peak_mb for r in ran), 0, b"")


@dataclass(frozen=True)
class Step:
    """One step of a finished stack: its commit and, for a merge, the head that it merged."""

    kind: str
    head: str
    commit: str
    below: str


@dataclass(frozen=True)
class Git:
    """One git program on one repository or work tree."""

    program: str
    directory: Path
    settings: tuple[str, ...] = QUIET

    def run(self, *args: str, stdin: bytes = b"", ok: Sequence[int] = (0,)) -> Ran:
        pins = [word for setting in self.settings for word in ("-c", setting)]
        command = [self.program, "-C", self.directory, *pins, *args]
        return run(command, git=self.program, stdin=stdin, ok=ok)

    def text(self, *args: str) -> str:
        return self.run(*args).text

    @property
    def version(self) -> str:
        return self.text("version").removeprefix("git version ")

    def steps(self, base: str, tip: str) -> list[Step]:
        """The first-parent history ``base..tip`` as steps, lowest first."""
        lines = self.text("rev-list", "--first-parent", "--parents", "--reverse", f"{base}..{tip}").split(
            "\n"
        )
        found = [line.split() for line in lines]
        return [Step("merge", p[2], p[0], p[1]) if p[2:] else Step("pick", p[0], p[0], p[1]) for p in found]


@contextmanager
def workplace(keep: Path | None = None) -> Iterator[Path]:
    """A directory for one run of a benchmark, removed afterwards unless it was given."""
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="bench-stackmerge-") as name:
        yield Path(name)


def adopted_copy(clone: Path, place: Path) -> Path:
    """A copy of a clone of git.git in which the stack ``seen`` is adopted; the clone itself is only read."""
    copy = place / "git.git"
    shutil.copytree(clone, copy, symlinks=True)
    for commit in (BASE, TIP):
        Git("git", copy).run("cat-file", "-e", f"{commit}^{{commit}}")
    stackmerge(copy, "adopt", "--base", BASE, "--tip", TIP, "--name", "seen")
    return copy


def interleaved(rounds: int, sides: dict[str, Callable[[], Ran]]) -> dict[str, list[Ran]]:
    """Run each side once per round, all sides in every round, so that they see the same machine."""
    found: dict[str, list[Ran]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            found[name].append(side())
    return found


def median_s(runs: Iterable[Ran]) -> float:
    return statistics.median(ran.seconds for ran in runs)


def median_cpu(runs: Iterable[Ran]) -> float:
    return statistics.median(ran.cpu for ran in runs)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table that reads well as text and as Markdown."""
    cells = [list(map(str, head)), *(list(map(str, row)) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def target(value: float, limit: float, unit: str, *, at_least: bool = False) -> str:
    """A target in words, and whether ``value`` meets it."""
    met = value >= limit if at_least else value <= limit
    return f"{'>=' if at_least else '<='} {limit:g}{unit}: {'met' if met else 'NOT MET'}"


def machine(gits: Iterable[Git]) -> str:
    """When and on what a table was made, in words; nothing that names a host."""
    load = os.getloadavg()[0]
    gits_in_words = ", ".join(f"git {git.version}" for git in gits)
    python = ".".join(map(str, sys.version_info[:3]))
    date = time.strftime("%Y-%m-%d")
    return f"{date}, {os.cpu_count()} cores, load {load:.1f} at the start, Python {python}, {gits_in_words}"
