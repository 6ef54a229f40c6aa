"""The checkout that gates run in: one directory of ours, moved from step to step at the cost of what changed.

It looks like a clone: its ``.git`` borrows the repository's objects and has its HEAD at the step, so that a gate
may ask git whatever it likes; but it has refs of its own, and what a gate does there never reaches the
repository. We never use that ``.git`` ourselves, and write it anew for each gate.

Files have the bytes of the tree, whatever the repository's settings make of them elsewhere. Attributes and the
filters that they name, such as Git LFS, do work as they are configured.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from functools import cached_property
from pathlib import Path

from stackmerge.errors import StackmergeError
from stackmerge.git import GitFailed
from stackmerge.repository import Repository

_SETTINGS = {
    "core.fileMode": "true",
    "core.symlinks": "true",
    "core.autocrlf": "false",
    "core.eol": "lf",
    "core.sparseCheckout": "false",
}
_GITLINK = re.compile(rb"(?:^|\0)160000 [0-9a-f]+ \d\t([^\0]+)")


class Checkout:
    """The work tree of one stack's gates."""

    def __init__(self, repository: Repository, directory: Path) -> None:
        self._repository = repository
        self.path = directory / "checkout"
        self._index = directory / "checkout-index"
        self._made_with = directory / "checkout-settings"

    @cached_property
    def settings(self) -> str:
        """A digest of the settings that decide which bytes a file gets: ours, and the filters that are configured."""
        filters = self._repository.git.run("config", "--null", "--get-regexp", r"^filter\.", ok=(0, 1)).stdout
        return hashlib.sha256(repr(_SETTINGS).encode() + filters).hexdigest()

    def move_to(self, commit: str) -> None:
        """Make the checkout exactly the tree of ``commit``, whatever was done to it before."""
        try:
            if (
                self._made_with.read_text() != self.settings
            ):  # git would keep the files that no commit changed
                raise FileNotFoundError(self._made_with)
            self._update(commit)
        except (GitFailed, OSError):
            self._from_scratch(commit)

    def _update(self, commit: str) -> None:
        if self.path.is_symlink() or not self.path.is_dir():
            raise FileNotFoundError(self.path)
        self._drop_git()
        self._git("read-tree", "--reset", "-u", commit)
        self._git("clean", "-ffdxq")
        self._empty_submodules()
        self._write_git(commit)

    def _from_scratch(self, commit: str) -> None:
        try:
            self.remove()
            self.path.mkdir(parents=True)
            self._update(commit)
            self._made_with.write_text(self.settings)
        except OSError as error:
            raise StackmergeError(
                f"cannot check out a step: {error.strerror}", f"is the disk full, or {self.path} not yours?"
            ) from error

    def remove(self) -> None:
        """Remove the checkout, also where a gate has taken away its own permissions."""
        self._index.unlink(missing_ok=True)
        self._made_with.unlink(missing_ok=True)
        _remove(self.path)

    def _empty_submodules(self) -> None:
        """Empty each submodule's folder: a submodule is not checked out, and git leaves alone what is in there."""
        for name in _GITLINK.findall(self._git("ls-files", "--stage", "-z")):
            folder = self.path / os.fsdecode(name)
            if folder.parent.resolve() != self.path.resolve() / folder.parent.relative_to(self.path):
                raise NotADirectoryError(
                    folder
                )  # a link on the way to it: what it shows is not ours to remove
            _remove(folder)
            folder.mkdir(parents=True)

    def _git(self, *args: str) -> bytes:
        settings = [word for key, value in _SETTINGS.items() for word in ("-c", f"{key}={value}")]
        env = {"GIT_INDEX_FILE": str(self._index)}
        return self._repository.git.run(*settings, *args, directory=self.path, env=env).stdout

    def _drop_git(self) -> None:
        _remove(self.path / ".git")

    def _write_git(self, commit: str) -> None:
        own = self.path / ".git"
        for folder in ("refs/heads", "refs/tags", "objects/info"):
            (own / folder).mkdir(parents=True)
        (own / "objects/info/alternates").write_text(f"{self._repository.common_dir / 'objects'}\n")
        (own / "HEAD").write_text(f"{commit}\n")
        (own / "config").write_text(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tautocrlf = false\n\teol = lf\n"
        )
        shutil.copyfile(self._index, own / "index")


def _remove(path: Path) -> None:
    """Remove whatever is there. Each folder is opened for us before it is listed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    path.chmod(0o700)
    for folder, names, _ in os.walk(path):
        for name in names:
            inside = Path(folder, name)
            if not inside.is_symlink():
                inside.chmod(0o700)
    shutil.rmtree(path)
