"""Make the demo: an upstream, a fork of it, and the fork's two stacks as their maintainer would have built them.

The stacks are built by a real rebuild that stops at each conflict and goes on with the answer that is recorded
here, so what lies in the cache, in the journal and in the locks is what it would be after work by hand.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stackmerge.demo.fast_import import files_of, import_changes
from stackmerge.demo.history import CONV_STATE, FORK, KEEPER, UPSTREAM, Change
from stackmerge.errors import StackmergeError, UsageError
from stackmerge.git import Git
from stackmerge.libgit2 import pygit2
from stackmerge.outcome import Options, Outcome
from stackmerge.rebuild import rebuild, resume
from stackmerge.repository import Repository
from stackmerge.stack import open_stack

BASES = ("cac247a", "cc1f5c2")
_MARK = ".stackmerge-demo"
_MANIFESTS = ("stackmerge.yaml", "1080deploy.yaml")
_ANSWERS = ("natural", "right")
_NAME, _, _MAIL = KEEPER.removesuffix(">").partition(" <")


@dataclass(frozen=True)
class Demo:
    """Where the demo is."""

    upstream: Path
    fork: Path
    resolutions: Path


def make(directory: Path, *, anew: bool = False) -> Demo:
    """Make the demo in ``directory``. Raises UsageError where something else is in the way.

    With ``anew``, an earlier demo there is removed first.
    """
    _clear(directory, anew=anew)
    demo = Demo(directory / "upstream.git", directory / "fork", directory / "resolutions")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / _MARK).touch()
        _make_upstream(demo.upstream)
        git = _make_fork(demo)
        with _as_keeper():
            for manifest in _MANIFESTS:
                _build_stack(demo.fork, manifest)
        _commit_manifests(git, demo.fork)
        for answer in _ANSWERS:
            _write(demo.resolutions / answer, f"resolutions/{answer}")
    except OSError as error:
        raise StackmergeError(f"cannot make the demo in {directory}: {error.strerror}", "") from error
    return demo


def _clear(directory: Path, *, anew: bool) -> None:
    if not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
        return
    if not (directory / _MARK).is_file():
        raise UsageError(f"{directory} is there already, and is no demo", "name another directory")
    if not anew:
        raise UsageError(f"{directory} holds a demo already", "go on in it, or make it again with --anew")
    for child in directory.iterdir():
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child)
        else:
            child.unlink()


def _make_upstream(path: Path) -> None:
    pygit2.init_repository(str(path), bare=True, initial_head="main")
    import_changes(Git(path), UPSTREAM)


def _make_fork(demo: Demo) -> Git:
    """A clone of upstream, its pull requests among the refs, and the fork's own beside them."""
    raw = pygit2.init_repository(str(demo.fork), initial_head="stack")
    raw.remotes.create("upstream", str(demo.upstream.resolve()))
    raw.remotes.add_fetch("upstream", "+refs/pull/*:refs/pull/*")
    raw.config["user.name"], raw.config["user.email"] = _NAME, _MAIL
    git = Git((demo.fork / ".git").resolve())
    git.run("fetch", "--quiet", "--tags", "upstream")
    import_changes(git, FORK)
    _write(demo.fork, "fork")
    return git


def _write(directory: Path, sources: str) -> None:
    for path, data in files_of(sources):
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(data)


@contextmanager
def _as_keeper() -> Iterator[None]:
    """Make the merges as the demo's own maintainer, whoever runs this: their ids depend on it."""
    before = dict(os.environ)
    os.environ.update(GIT_COMMITTER_NAME=_NAME, GIT_COMMITTER_EMAIL=_MAIL)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _build_stack(fork: Path, manifest: str) -> None:
    """Rebuild a stack on its first base, with the recorded answer to each conflict."""
    with Repository(fork) as repository:
        stack = open_stack(repository, fork / manifest)
        outcome = rebuild(stack, None, Options(gates="off"))
        while outcome.run.status == "conflict":
            _answer(repository.git, outcome)
            outcome = resume(stack)
    if outcome.run.state != "accepted":
        raise StackmergeError(f"the demo's stack {stack.name} was not built: {outcome.run.status}", "")


def _answer(git: Git, outcome: Outcome) -> None:
    """Do in the private work tree what a person would do."""
    tree = Path(outcome.worktree)
    conflict = outcome.run.steps[-1]
    _write(tree, f"resolutions/{conflict.name}")
    if any(c.path == CONV_STATE for c in conflict.unresolved):
        (tree / CONV_STATE).unlink()  # upstream has moved what it held into gdn.py
    git.run("add", "--all", work_tree=tree)


def _commit_manifests(git: Git, fork: Path) -> None:
    """Commit manifests and locks; then one more step of 1080deploy, which is still to be built."""
    locks = {path.name: path.read_bytes() for path in sorted(fork.glob("*.lock"))}
    branch = ("refs/heads/stack",)
    built = Change("built", "Our stacks", KEEPER, 52, "fork", refs=branch)
    added = Change("added", "1080deploy: merge #588", KEEPER, 71, "fork-588", "built", branch)
    import_changes(git, [built], locks)
    import_changes(git, [Change(**{**vars(added), "parent": "refs/heads/stack^0"})])
    index = {"GIT_INDEX_FILE": str(git.git_dir / "index")}
    git.run("reset", "--quiet", "--hard", directory=fork.resolve(), env=index)
