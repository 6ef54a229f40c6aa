"""The git program: the only module that starts it.

Every call names its repository with ``--git-dir`` and runs with pinned configuration, so neither the
current directory, nor a user's settings that change merge results, nor inherited ``GIT_*`` variables count.
"""

from __future__ import annotations

import os
import re
import select
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from stackmerge.errors import StackmergeError

OLDEST = (2, 39)

# What changes a merge's bytes or a conflict's rerere id is pinned to the values of `git merge` itself.
PINNED = {
    "merge.conflictStyle": "merge",
    "diff.algorithm": "histogram",
    "merge.renames": "true",
    "diff.renames": "true",
    "merge.renameLimit": "7000",
    "merge.directoryRenames": "conflict",
    "merge.renormalize": "false",
    "diff.context": "3",
    "diff.interHunkContext": "0",
    "rerere.enabled": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "commit.gpgSign": "false",
    "core.hooksPath": os.devnull,
    "advice.detachedHead": "false",
    "submodule.recurse": "false",
    "core.sparseCheckout": "false",
}

_KEEP = re.compile(
    r"GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|(AUTHOR|COMMITTER)_(NAME|EMAIL)|SSH(_COMMAND|_VARIANT)?|ASKPASS|TERMINAL_PROMPT|EXEC_PATH)$"
)


_REDIRECTS = re.compile(
    r"GIT_(DIR|WORK_TREE|INDEX_FILE|INDEX_VERSION|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|COMMON_DIR|"
    r"QUARANTINE_PATH|SHALLOW_FILE|GRAFT_FILE|REPLACE_REF_BASE|PREFIX|INTERNAL_.*|IMPLICIT_WORK_TREE)$"
)


def environment(extra: Mapping[str, str] | None = None, *, transfer: bool = False) -> dict[str, str]:
    """The environment for git: the caller's, less every GIT_* variable that could change a result.

    With ``transfer`` only those are left out that redirect it: how a machine reaches a remote is the user's affair.
    """
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith("GIT_") or _KEEP.match(k) or (transfer and not _REDIRECTS.match(k))
    }
    kept |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    return kept | dict(extra or {})


class GitFailed(StackmergeError):
    """git itself said no; its own words are the message."""

    def __init__(self, command: Sequence[str], status: int, stderr: str) -> None:
        lines = [line for line in stderr.splitlines() if line.strip()] or [f"exit status {status}"]
        said = next((line for line in lines if line.startswith("fatal: ")), lines[-1])
        super().__init__(f"git {command[0]}: {re.sub('^(fatal|error): ', '', said)}")
        self.status = status
        self.stderr = stderr


class Git:
    """git on one repository.

    ``git_dir`` is the repository's common directory: objects and refs, never one work tree's index.
    """

    def __init__(self, git_dir: Path, program: str = "") -> None:
        self.git_dir = git_dir
        self.program = program or os.environ.get("STACKMERGE_GIT", "git")

    def command(self, *args: str, work_tree: Path | None = None, directory: Path | None = None) -> list[str]:
        """The argument vector for ``git ARGS``.

        With ``work_tree``, in that linked work tree. With ``directory``, on the repository itself, with that
        directory as its work tree: ``.gitattributes`` are read there, and no index but one named in the
        environment.
        """
        if work_tree:
            where = ["-C", str(work_tree)]
        elif directory:
            where = ["-C", str(directory), f"--git-dir={self.git_dir}", f"--work-tree={directory}"]
        else:
            where = [f"--git-dir={self.git_dir}"]
        pins = [part for key, value in PINNED.items() for part in ("-c", f"{key}={value}")]
        return [self.program, *where, *pins, *args]

    def run(
        self,
        *args: str,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        ok: Sequence[int] = (0,),
        work_tree: Path | None = None,
        directory: Path | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run ``git ARGS`` to its end. Raises GitFailed on an exit status that is not in ``ok``."""
        try:
            done = subprocess.run(
                self.command(*args, work_tree=work_tree, directory=directory),
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                env=self._environment(env, directory),
                check=False,
            )
        except FileNotFoundError as error:
            raise StackmergeError(f"{self.program} is not installed", "install git 2.39 or newer") from error
        if done.returncode not in ok:
            raise GitFailed(args, done.returncode, done.stderr.decode(errors="replace"))
        return done

    def text(self, *args: str, work_tree: Path | None = None) -> str:
        """The standard output of ``git ARGS``, without the last line end."""
        return self.run(*args, work_tree=work_tree).stdout.decode(errors="surrogateescape").removesuffix("\n")

    @staticmethod
    def _environment(extra: Mapping[str, str] | None, directory: Path | None) -> dict[str, str]:
        no_index = (
            {"GIT_INDEX_FILE": f"{directory}.no-index"} if directory else {}
        )  # beside it: it may hold any name
        return environment({**no_index, **(extra or {})})

    def child(self, *args: str, directory: Path) -> Child:
        """Start ``git ARGS`` beside us, to be asked over its pipes."""
        return Child(
            subprocess.Popen(
                self.command(*args, directory=directory),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment(None, directory),
            )
        )

    @cached_property
    def version(self) -> tuple[int, int, int]:
        """The version of git as three numbers. Raises StackmergeError when it is older than 2.39."""
        said = self.text("version")
        match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", said)
        if not match:
            raise StackmergeError(f"cannot read the version in {said!r}", "install git 2.39 or newer")
        version = (int(match[1]), int(match[2]), int(match[3] or 0))
        if version[:2] < OLDEST:
            raise StackmergeError(f"git {match[0]} is too old", "install git 2.39 or newer")
        return version

    @property
    def version_text(self) -> str:
        return ".".join(map(str, self.version))


class Child:
    """A git at work beside us, that reads what it is asked and answers in tokens that end with NUL."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._heard, self._read = b"", 0

    def ask(self, data: bytes) -> None:
        """Send it something to answer. Raises BrokenPipeError when it is gone."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def token(self) -> bytes:
        """The next token of its answers. Raises EOFError when it is gone."""
        assert self._process.stdout is not None
        while (end := self._heard.find(0, self._read)) < 0:
            chunk = os.read(self._process.stdout.fileno(), 65536)
            if not chunk:
                raise EOFError
            self._heard, self._read = self._heard[self._read :] + chunk, 0
        token, self._read = self._heard[self._read : end], end + 1
        return token

    def tokens(self) -> Iterator[bytes]:
        while True:
            yield self.token()

    def is_heard(self, seconds: float) -> bool:
        """Has it said anything, after so many seconds at most?"""
        assert self._process.stdout is not None
        return bool(self._heard[self._read :] or select.select([self._process.stdout], [], [], seconds)[0])

    def end(self, *, at_once: bool = False) -> None:
        """Ask it nothing more and wait for its end; ``at_once``: not for what it has still to answer."""
        if at_once:
            self._process.kill()
        self._process.communicate()
