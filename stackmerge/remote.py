"""Talking to remotes, through GitPython: fetch and push with progress.

The second and last place that starts git; GitPython's own commands for transfers, with our environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import git as gitpython

from stackmerge.errors import StackmergeError, UsageError
from stackmerge.git import environment

_URL = re.compile(r"\b(?:https?|ssh|git|file)://\S+|\b\S+@\S+:\S+")

_MOVED = re.compile(r"The requested URL returned error: 3\d\d")
_NO_LOGIN = re.compile(r"could not read (?:Username|Password) for|Authentication failed for")
_WRAPPED = re.compile(r"\Astderr: '(.*)'\Z", re.DOTALL)  # how GitPython quotes what git said


class _Git(gitpython.Git):
    """GitPython's git, less the variables that could redirect ours: it can be given more of them, but not fewer."""

    def execute(self, *args: Any, **options: Any) -> Any:
        kept = environment(transfer=True)
        dropped = {name: os.environ.pop(name) for name in set(os.environ) - kept.keys()}
        try:
            return super().execute(*args, **options)
        finally:
            os.environ |= dropped


class _Repository(gitpython.Repo):
    GitCommandWrapperType = _Git


class _Progress(gitpython.RemoteProgress):
    """Hands on each line of git's progress."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def update(self, *_: object) -> None:
        self._tell(self._cur_line or "")


class Remote:
    """One named remote of a repository. ``secret`` are variables for git alone, in no argument and no error."""

    def __init__(
        self,
        git_dir: Path,
        name: str,
        tell: Callable[[str], None] = lambda _: None,
        secret: Mapping[str, str] | None = None,
    ) -> None:
        self._repository = _Repository(git_dir)
        inherited = dict.fromkeys(self._repository.git.environment())  # None takes a variable away
        self._repository.git.update_environment(**inherited)
        self._repository.git.update_environment(**environment(secret, transfer=True), GIT_DIR=str(git_dir))
        self._tell = tell
        if name not in [remote.name for remote in self._repository.remotes]:
            raise UsageError(f"there is no remote {name!r}", "see `git remote -v`")
        self._remote = self._repository.remote(name)

    def fetch(self, refspecs: Sequence[str]) -> None:
        """Fetch full refspecs. Raises StackmergeError with git's words, without the URL."""
        try:
            self._remote.fetch(list(refspecs), progress=_Progress(self._tell), no_tags=True, verbose=False)
        except gitpython.GitCommandError as error:
            raise self._failed("fetch", error) from None

    def has(self, ref: str) -> bool:
        """Is there a ref of this name on the remote?"""
        try:
            return bool(str(self._repository.git.ls_remote("--", self._remote.name, ref)).strip())
        except gitpython.GitCommandError as error:
            raise self._failed("reach", error) from None

    @property
    def url(self) -> str:
        """Where it pushes to."""
        return str(
            next(iter(self._repository.git.remote("get-url", "--push", self._remote.name).splitlines()), "")
        )

    def refs(self, names: Sequence[str]) -> dict[str, str]:
        """Those of the full ref names that the remote has, with their objects, as they are now."""
        try:
            said = str(self._repository.git.ls_remote("--", self._remote.name, *names))
        except gitpython.GitCommandError as error:
            raise self._failed("reach", error) from None
        pairs = (line.split("\t", 1) for line in said.splitlines() if "\t" in line)
        return {name: oid for oid, name in pairs if name in names}

    def push(self, refspecs: Sequence[str], leases: Sequence[str] = ()) -> None:
        """Push full refspecs, all or none, each lease a ``ref:old id``.

        Raises StackmergeError with git's words, without the URL.
        """
        try:
            pushed = self._remote.push(
                list(refspecs), progress=_Progress(self._tell), atomic=True, force_with_lease=list(leases)
            )
            pushed.raise_if_error()
        except gitpython.GitCommandError as error:
            raise self._failed("push", error) from None

    def _failed(self, verb: str, error: gitpython.GitCommandError) -> StackmergeError:
        name, stderr = self._remote.name, _WRAPPED.sub(r"\1", str(error.stderr).strip())
        if _MOVED.search(stderr):
            hint = f"has the repository moved? set its new address: `git remote set-url {name} URL`"
            return StackmergeError(f"{verb} {name}: the remote's address redirects elsewhere", hint)
        if _NO_LOGIN.search(stderr):
            hint = f"a token for the host of `git remote get-url {name}`, or a credential helper of git, gives it"
            return StackmergeError(f"{verb} {name}: the remote asks for a login that is not there", hint)
        said = [line.strip() for line in stderr.splitlines() if line.strip()]
        line = next(
            (one for one in said if one.startswith(("fatal:", "error:", "!"))),
            said[-1] if said else "it failed",
        )
        return StackmergeError(f"{verb} {name}: {_URL.sub('<url>', line)}", "is the remote reachable?")
