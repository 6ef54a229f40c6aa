"""A generated stack with conflicts, and a rebuild of it that is killed and gone on with."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.sandbox import START, Sandbox

STEPS = 30
LINES = 40


def generate(fork: Sandbox, steps: int = STEPS) -> None:
    """A deploy branch of ``steps`` merges on v1, of which every third conflicts and was resolved; and v2.

    Step n changes line 1 of ``shared`` where n is a multiple of three, and a file of its own otherwise. v2
    changes the last line of ``shared``, so that every answer is replayed into another file.
    """
    fork.git("fast-import", "--quiet", "--done", stdin="".join(_stream(steps)).encode())
    fork.git("checkout", "-q", "--force", "main")
    fork.git("tag", "v1", "main")
    fork.git("tag", "v2", "new")
    adopted = fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy")
    assert adopted.code == 0, adopted.err


def _shared(first: str, last: str = "last") -> str:
    return "\n".join([first, *(str(n) for n in range(LINES)), last]) + "\n"


def _stream(steps: int) -> Iterator[str]:
    """What git fast-import reads."""
    mark = 1
    yield _commit("main", 1, 0, "base", [], {"shared": _shared("first")})
    yield _commit("new", 2, 1, "new base", [1], {"shared": _shared("first", "LAST"), "base": "base\n"})
    tip, mark = 1, 3
    below = "first"
    for n in range(1, steps + 1):
        name = f"step-{n:02d}"
        own = {"shared": _shared(name)} if n % 3 == 0 else {f"own/{name}": f"{name}\n"}
        yield _commit(f"heads/{name}", mark, 2 * n, name, [1], own)
        if n % 3 == 0:
            below = f"{below} {name}" if n > 3 else name
            own = {"shared": _shared(below)}
        yield _commit("deploy", mark + 1, 2 * n + 1, f"Merge branch '{name}'", [tip, mark], own)
        tip, mark = mark + 1, mark + 2
    yield "done\n"


def _commit(
    branch: str, mark: int, minute: int, message: str, parents: list[int], files: dict[str, str]
) -> str:
    lines = [f"commit refs/heads/{branch}\nmark :{mark}\n"]
    lines += [f"committer Ada <ada@example.com> {START + 60 * minute} +0000\n"]
    lines += [f"data {len(message)}\n{message}\n"]
    lines += [f"{word} :{parent}\n" for word, parent in zip(("from", "merge"), parents, strict=False)]
    lines += [f"M 100644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in files.items()]
    return "".join([*lines, "\n"])


@dataclass(frozen=True)
class State:
    """What a rebuild leaves: every branch, the lock, and the steps' trees."""

    branches: str
    lock: str


def state(fork: Sandbox) -> State:
    branches = fork.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")
    return State(branches, (fork.path / "stackmerge.lock").read_text())


def copied(fork: Sandbox, root: Path) -> Sandbox:
    """A copy of the whole repository, to be killed in."""
    root.mkdir()
    shutil.copytree(fork.path, root / "fork", symlinks=True)
    copy = Sandbox.__new__(Sandbox)
    copy.__dict__ |= fork.__dict__ | {"path": root / "fork"}
    return copy


def killed(fork: Sandbox, delay: float) -> bool:
    """Start a rebuild on v2 and kill it, with every git it started, after ``delay`` seconds; False if it was done."""
    process = subprocess.Popen(
        [sys.executable, "-m", "stackmerge", "rebuild", "--onto", "v2", "--fresh"],
        cwd=fork.path,
        env=fork.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(timeout=delay)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def go_on(fork: Sandbox) -> str:
    """Go on as a person would: continue, or rebuild where nothing had begun. What was said when that fails."""
    ran = fork.stackmerge("continue")
    if ran.code == 1 and "no rebuild of 'deploy' is under way" in ran.err:
        ran = fork.stackmerge("rebuild", "--onto", "v2")
    return "" if ran.code == 0 else ran.err
