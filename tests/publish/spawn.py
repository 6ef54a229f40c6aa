"""Run the command line in a process forked from one that has everything imported: real, killable, and fast."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.sandbox import Ran

_PRELOADED = [
    "pytest",
    "jinja2.sandbox",
    "stackmerge.cli",
    "stackmerge.publish.publish",
    "stackmerge.show.publish",
    "tests.publish.spawn",
]
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(_PRELOADED)


def run(
    args: tuple[str, ...], cwd: Path, env: Mapping[str, str], started: Callable[[int], None] = lambda _: None
) -> Ran:
    """Run ``stackmerge ARGS``; ``started`` is told the process id, which leads a process group of its own."""
    with tempfile.TemporaryDirectory() as name:
        out, err = Path(name, "out"), Path(name, "err")
        process = _CONTEXT.Process(target=_child, args=(args, cwd, dict(env), out, err))
        process.start()
        assert process.pid
        started(process.pid)
        process.join(60)
        assert process.exitcode is not None, "it hangs"
        ran = Ran(process.exitcode, out.read_text(), err.read_text())
    assert "Traceback" not in ran.err, ran.err
    return ran


def _child(args: tuple[str, ...], cwd: Path, env: dict[str, str], out: Path, err: Path) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    for path, number in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    sys.argv = ["stackmerge", *args]
    from stackmerge.cli import main

    try:
        main()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
