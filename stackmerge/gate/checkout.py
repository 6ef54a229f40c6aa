"""The checkout that gates run in: one directory of ours, moved from step to step at the cost of what changed.

It looks like a clone: its ``.git`` borrows the repository's objects and has its HEAD at the step, so that a gate
may ask git whatever it likes; but it has refs of its own, and what a gate does there never reaches the
repository. We never use that ``.git`` ourselves, and write it anew for each gate.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from stackmerge.errors import StackmergeError
from stackmerge.git import GitFailed
from stackmerge.repository import Repository


class Checkout:
    """The work tree of one stack's gates."""

    def __init__(self, repository: Repository, directory: Path) -> None:
        self._repository = repository
        self.path = directory / "checkout"
        self._index = directory / "checkout-index"

    def move_to(self, commit: str) -> None:
        """Make the checkout exactly the tree of ``commit``, whatever was done to it before."""
        try:
            self._update(commit)
        except (GitFailed, OSError):
            self._from_scratch(commit)

    def _update(self, commit: str) -> None:
        if self.path.is_symlink() or not self.path.is_dir():
            raise FileNotFoundError(self.path)
        self._drop_git()
        self._git("read-tree", "--reset", "-u", commit)
        self._git("clean", "-ffdxq")
        self._write_git(commit)

    def _from_scratch(self, commit: str) -> None:
        self.remove()
        try:
            self.path.mkdir(parents=True)
            self._update(commit)
        except OSError as error:
            raise StackmergeError(
                f"cannot check out a step: {error.strerror}", "is the disk full?"
            ) from error

    def remove(self) -> None:
        """Remove the checkout, also where a gate has taken away its own permissions."""
        self._index.unlink(missing_ok=True)
        if self.path.is_symlink() or self.path.is_file():
            self.path.unlink()
        if self.path.exists():
            for folder, _, _ in os.walk(self.path):
                Path(folder).chmod(0o700)
            shutil.rmtree(self.path)

    def _git(self, *args: str) -> None:
        self._repository.git.run(*args, directory=self.path, env={"GIT_INDEX_FILE": str(self._index)})

    def _drop_git(self) -> None:
        own = self.path / ".git"
        if own.is_symlink() or own.is_file():
            own.unlink()
        elif own.is_dir():
            shutil.rmtree(own)

    def _write_git(self, commit: str) -> None:
        own = self.path / ".git"
        for folder in ("refs/heads", "refs/tags", "objects/info"):
            (own / folder).mkdir(parents=True)
        (own / "objects/info/alternates").write_text(f"{self._repository.common_dir / 'objects'}\n")
        (own / "HEAD").write_text(f"{commit}\n")
        (own / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
        shutil.copyfile(self._index, own / "index")
