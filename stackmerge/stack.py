"""One stack at work: its manifest, lock, journal and the lock file that lets one command at a time change it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from stackmerge import lock, manifest
from stackmerge.errors import StackmergeError
from stackmerge.lock import Lock
from stackmerge.manifest import Manifest
from stackmerge.refs import Update
from stackmerge.repository import Repository

if TYPE_CHECKING:  # loaded while git is at work already
    from stackmerge.journal import Journal
    from stackmerge.record import Run


@dataclass(frozen=True)
class Stack:
    """A manifest with everything that belongs to it."""

    repository: Repository
    manifest: Manifest
    lock: Lock

    @cached_property
    def journal(self) -> Journal:
        from stackmerge.journal import Journal

        return Journal(self.repository.objects, self.repository.refs, self.name)

    @property
    def name(self) -> str:
        return self.manifest.stack

    @property
    def directory(self) -> Path:
        """Our private directory for this stack, inside the repository."""
        return self.repository.private_to(self.name)

    def last_run(self) -> Run | None:
        return self.journal.read()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the stack for one command. Raises StackmergeError while another command holds it."""
        from filelock import FileLock, Timeout

        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            held = FileLock(self.directory / "lock", timeout=0)
            with held:
                self.repository.refs.clear_locks(f"refs/stackmerge/{self.name}/")
                yield
        except Timeout as error:
            raise StackmergeError(
                f"another stackmerge command is working on the stack {self.name!r}",
                "`stackmerge status` shows a rebuild at work; wait for it to end, or stop it",
            ) from error
        except PermissionError as error:
            raise StackmergeError(f"cannot write to {self.directory}", "check its owner and mode") from error

    def keep_heads(self, heads: dict[str, str]) -> None:
        """Keep each head (by step) on a ref of ours: authors force-push, and an old head cannot be fetched again."""
        refs = self.repository.refs
        wanted = {self.head_ref(step, head): head for step, head in heads.items()}
        missing = [Update(ref, head, None) for ref, head in wanted.items() if refs.get(ref) is None]
        refs.transaction(missing, "stackmerge: keep heads")

    def head_ref(self, step: str, head: str) -> str:
        return f"refs/stackmerge/{self.name}/heads/{step}/{head[:12]}"


def open_stack(repository: Repository, path: Path) -> Stack:
    """Read the manifest at ``path`` and what goes with it."""
    found = manifest.load(path)
    return Stack(repository, found, lock.load(found.lock_path))
