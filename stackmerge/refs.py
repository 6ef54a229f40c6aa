"""The one place that moves refs. Branches move in one transaction with their old values checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stackmerge.errors import StackmergeError, UsageError
from stackmerge.git import Git, GitFailed
from stackmerge.libgit2 import pygit2

OWN = "refs/stackmerge/"
NONE = "0" * 40


class Update(NamedTuple):
    """One ref of a transaction: ``new`` None deletes it, ``old`` None says that it must not exist yet."""

    ref: str
    new: str | None
    old: str | None


def checked_name(ref: str, what: str) -> str:
    """``ref`` if git would accept it. Raises UsageError, naming ``what`` it was for."""
    tail = ref.removeprefix("refs/heads/")
    if tail.startswith("-") or not ref.startswith("refs/") or not pygit2.reference_is_valid_name(ref):
        raise UsageError(f"{what}: {tail!r} is not a valid ref name", "see `git help check-ref-format`")
    return ref


class Refs:
    """Reads and moves the refs of one repository."""

    def __init__(self, repository: pygit2.Repository, git: Git) -> None:
        self._repository = repository
        self._git = git
        self._listed: dict[str, list[tuple[str, str]]] = {}

    def get(self, ref: str) -> str | None:
        """The object that ``ref`` points to, or None."""
        found = self._repository.references.get(ref)
        try:
            return str(found.resolve().target) if found is not None else None
        except (KeyError, pygit2.GitError):  # a symbolic ref to nothing
            return None

    def is_symbolic(self, ref: str) -> bool:
        found = self._repository.references.get(ref)
        return found is not None and isinstance(found.target, str)

    def below(self, prefix: str) -> Iterator[tuple[str, str]]:
        """Every ref whose name starts with ``prefix``, with its object, in order of name.

        Those of our own are listed once until we move one: a repository may have very many refs.
        """
        if prefix in self._listed:
            yield from self._listed[prefix]
            return
        found = self._list(prefix)
        if prefix.startswith(OWN):
            self._listed[prefix] = found
        yield from found

    def _list(self, prefix: str) -> list[tuple[str, str]]:
        """By git, which looks only where the prefix leads: libgit2 reads every ref that there is."""
        folder = prefix.rpartition("/")[0]
        listed = self._git.text("for-each-ref", "--format=%(refname) %(objectname)", "--", folder)
        pairs = [line.rpartition(" ") for line in listed.splitlines()]
        return sorted((ref, oid) for ref, _, oid in pairs if ref.startswith(prefix))

    def _moved(self, *refs: str) -> None:
        for prefix in [prefix for prefix in self._listed if any(ref.startswith(prefix) for ref in refs)]:
            del self._listed[prefix]

    def set_own(self, ref: str, oid: str) -> None:
        """Move one ref below refs/stackmerge/, which nobody but the holder of the stack's lock moves."""
        if not ref.startswith(OWN):
            raise ValueError(f"{ref} is not below {OWN}")
        self._moved(ref)
        try:
            self._repository.references.create(ref, oid, force=True)
        except (pygit2.GitError, OSError, ValueError) as error:
            raise StackmergeError(f"cannot write {ref}: {error}", "is the disk full?") from error

    def clear_locks(self, prefix: str) -> None:
        """Remove the lock files that a killed command left below ``prefix``, which its caller alone may write."""
        if not prefix.startswith(OWN):
            raise ValueError(f"{prefix} is not below {OWN}")
        for left in (self._git.git_dir / prefix).rglob("*.lock"):
            left.unlink(missing_ok=True)

    def clear_locks_of(self, updates: Iterable[Update]) -> None:
        """Remove the locks that our own killed transaction left on branches.

        Such a lock is empty or holds the very value that we meant to write; anybody else's is left alone.
        """
        for update in updates:
            left = self._git.git_dir / f"{update.ref}.lock"
            try:
                ours = left.read_bytes().strip() in (b"", (update.new or NONE).encode())
            except OSError:
                continue
            if ours:
                left.unlink(missing_ok=True)

    def transaction(self, updates: Iterable[Update], message: str) -> None:
        """Move all refs or none. Raises StackmergeError when one of them is not at its old value.

        A ref that goes is deleted before, where another is to be made below or above it: git makes no `a/b` beside `a`.
        """
        every = list(updates)
        first = [one for one in every if one.new is None and one.old and _is_in_the_way(one.ref, every)]
        self._move(first, message)
        try:
            self._move([one for one in every if one not in first], message)
        except StackmergeError:
            self._move([Update(one.ref, one.old, None) for one in first], message)
            raise

    def _move(self, updates: Iterable[Update], message: str) -> None:
        commands = [b"start"]
        for update in updates:
            self._moved(update.ref)
            if update.new == update.old:
                continue
            words = [update.ref.encode(), (update.new or NONE).encode(), (update.old or NONE).encode()]
            commands.append(b"update " + b"\0".join(words))
        if len(commands) == 1:
            return
        stdin = b"".join(command + b"\0" for command in [*commands, b"prepare", b"commit"])
        try:
            self._git.run("update-ref", "-m", message, "--create-reflog", "--stdin", "-z", stdin=stdin)
        except GitFailed as error:
            hint = "somebody else moved a branch: look at it, then run again"
            if ".lock'" in error.stderr:
                hint = "if no other git is running here, remove that lock file, then run again"
            elif "exists; cannot create" in error.stderr:
                hint = "a branch of another name is in the way: rename it, or give the step another `branch`"
            raise StackmergeError(f"no ref was moved: {error.message}", hint) from error


def _is_in_the_way(ref: str, updates: Iterable[Update]) -> bool:
    names = [one.ref for one in updates if one.new]
    return any(name.startswith(f"{ref}/") or ref.startswith(f"{name}/") for name in names)
