"""One repository: its objects, refs and merges, opened once per command."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from stackmerge.ancestry import first_outside, own_commits
from stackmerge.attributes import Attributes
from stackmerge.errors import StackmergeError, UsageError
from stackmerge.git import Git, GitFailed
from stackmerge.libgit2 import pygit2
from stackmerge.merger import Merger
from stackmerge.objects import Objects, Person
from stackmerge.refs import Refs

if TYPE_CHECKING:
    from stackmerge.resolutions import Resolutions


class Repository:
    """Opens the repository that ``directory`` belongs to; the user's checkout in it is never touched.

    Raises UsageError for what stackmerge cannot work on: no repository, a shallow, partial or SHA-256 one.
    """

    def __init__(self, directory: Path) -> None:
        found = pygit2.discover_repository(str(directory)) if directory.is_dir() else None
        if found is None:
            raise UsageError(f"{directory} is not in a git repository", "name one with --repo DIR")
        own = Path(found).resolve()
        link = own / "commondir"
        self.common_dir = (own / link.read_text().strip()).resolve() if link.is_file() else own
        config = (self.common_dir / "config").read_text(errors="replace").lower()
        if "objectformat" in config and "sha256" in config:
            raise UsageError(
                f"{directory}: SHA-256 repositories are not supported", "libgit2 cannot read them yet"
            )
        if "refstorage" in config and "reftable" in config:
            raise UsageError(f"{directory}: the reftable format is not supported", "run `git refs migrate`")
        try:
            self.raw = pygit2.Repository(found)
        except pygit2.GitError as error:
            raise UsageError(
                f"{directory}: {error}", "is it a damaged repository, or somebody else's?"
            ) from error
        if (self.common_dir / "shallow").exists():
            raise UsageError(f"{directory} is a shallow clone", "run `git fetch --unshallow` first")
        if "partialclonefilter" in config:
            raise UsageError(
                f"{directory} is a partial clone, where objects are missing",
                "`git config --unset remote.NAME.partialCloneFilter`, then `git fetch --refetch NAME`",
            )
        self.git = Git(self.common_dir)
        self.objects = Objects(self.raw, self.common_dir / "objects")
        self.refs = Refs(self.raw, self.git)
        self._forks: dict[tuple[str, str], str | None] = {}

    @property
    def top(self) -> Path:
        """Where the manifest lies: the work tree, or the repository itself when it is bare."""
        return Path(self.raw.workdir).resolve() if self.raw.workdir else self.common_dir

    @property
    def private(self) -> Path:
        """Our directory beside the objects: locks and work trees."""
        return self.common_dir / "stackmerge"

    def private_to(self, stack: str) -> Path:
        """Our directory for one stack; no two stacks share one."""
        return self.private / stack.replace("%", "%25").replace("/", "%2F")

    @cached_property
    def attributes(self) -> Attributes:
        return Attributes(self.git, self.objects)

    @cached_property
    def merger(self) -> Merger:
        return Merger(self.git, self.objects, self.attributes)

    def resolutions(self) -> Resolutions:
        """The resolutions on their ref. Raises StackmergeError when the ref is not a commit of ours."""
        from stackmerge.resolutions import REF, Resolutions  # loaded while git is at work already

        commit = self.refs.get(REF)
        return (
            Resolutions(self.objects, self.objects.commit(commit).tree)
            if commit
            else Resolutions(self.objects)
        )

    def close(self) -> None:
        for name in ("merger", "attributes"):
            if name in self.__dict__:
                self.__dict__[name].close()

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def commit_id(self, revision: str, where: str) -> str:
        """The commit that ``revision`` names. Raises UsageError; ``where`` says who named it."""
        try:
            if revision.startswith("-") or "\0" in revision:
                raise ValueError
            return str(self.raw.revparse_single(revision).peel(pygit2.Commit).id)
        except (KeyError, ValueError, pygit2.GitError) as error:
            hint = "fetch it first, or see `git rev-parse`"
            raise UsageError(f"{where}: {revision!r} is not a commit that is here", hint) from error

    def has(self, oid: str) -> bool:
        return oid in self.raw

    def is_ancestor(self, old: str, new: str) -> bool:
        if (old, new) in self._forks:
            return self._forks[old, new] == old
        return old == new or bool(self.raw.descendant_of(new, old))

    def merge_base(self, one: str, other: str) -> str | None:
        if (one, other) in self._forks:
            return self._forks[one, other]
        found = self.raw.merge_base(one, other)
        return str(found) if found else None

    def learn_merge_bases(self, heads: Iterable[str], base: str) -> None:
        """Find where each head forked from ``base``, all in one walk of git's; libgit2 takes 20 ms for each."""
        wanted = {head for head in heads if (head, base) not in self._forks}
        if not wanted:
            return
        own = own_commits(self.git, wanted, base)
        for head in wanted:
            met = first_outside(head, own)
            best = self.git.text("merge-base", head, base) if len(met) > 1 else next(iter(met), None)
            self._forks[head, base] = best

    @property
    def has_commit_graph(self) -> bool:
        info = self.common_dir / "objects" / "info"
        return (info / "commit-graph").exists() or (info / "commit-graphs").exists()

    def keep_commit_graph(self) -> None:
        """Write a commit-graph where there is none: merges of a long history are eight times faster with one."""
        if self.has_commit_graph:
            return
        self.git.run("commit-graph", "write", "--reachable", "--no-progress", ok=(0, 1, 128))

    def identity(self) -> str:
        """``Name <mail>`` of whoever runs this, for commits that have no author yet."""
        try:
            return Person.parse(self.git.text("var", "GIT_COMMITTER_IDENT")).who
        except GitFailed as error:
            hint = "set user.name and user.email with `git config`"
            raise StackmergeError("git does not know who you are", hint) from error
