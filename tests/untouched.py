"""What a refused command must leave as it was: every ref, HEAD, the index, the configuration and the work tree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sandbox import Sandbox


def snapshot(fork: Sandbox) -> dict[str, object]:
    """Refs, HEAD, index, configuration and work tree, byte for byte."""
    git_dir = Path(fork.git("rev-parse", "--absolute-git-dir"))
    files = {name: _bytes(git_dir / name) for name in ("HEAD", "index", "config", "MERGE_HEAD")}
    return {"refs": fork.git("for-each-ref"), "tree": dict(_work_tree(fork.path)), **files}


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _work_tree(top: Path) -> Iterator[tuple[str, tuple[int, object]]]:
    for folder, folders, names in os.walk(top):
        if ".git" in folders and Path(folder) == top:
            folders.remove(".git")
        for name in names:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if path.is_symlink():
                yield str(path), (mode, os.readlink(path))  # noqa: PTH115 - byte for byte
            elif path.stat().st_size < 1_000_000:
                yield str(path), (mode, path.read_bytes())
            else:
                yield str(path), (mode, path.stat().st_size)


@contextmanager
def untouched(fork: Sandbox) -> Iterator[None]:
    """Nothing may change in here."""
    before = snapshot(fork)
    yield
    after = snapshot(fork)
    for what, value in before.items():
        assert after[what] == value, f"{what} changed"
