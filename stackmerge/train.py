"""Train: re-merge the merges of a history and learn what their authors did."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from stackmerge.cache import save
from stackmerge.errors import StackmergeError, UsageError
from stackmerge.learn import learn
from stackmerge.objects import Commit
from stackmerge.repository import Repository
from stackmerge.resolution import Exact, Fixup, Provenance, Text
from stackmerge.resolutions import Resolutions

_TOPIC = re.compile(
    r"Merge (?:remote-tracking )?(?:branch(?:es)?|tag|commit) '([^']+)'( of \S+)?|Merge pull request (#\d+)"
)


@dataclass(frozen=True)
class Trained:
    """What a training run looked at and what it learned."""

    merges: int
    conflicted: int
    text: int
    exact: int
    fixup: int
    skipped: tuple[str, ...] = ()


def topic(message: str) -> str:
    """The topic that a merge's message names, with the repository it came from; empty when it names none."""
    found = _TOPIC.search(message.partition("\n")[0])
    return (found[3] or found[1] + (found[2] or "")) if found else ""


def merges_of(repository: Repository, ranges: Sequence[str], *, first_parent: bool = False) -> list[str]:
    """Every merge commit of the ranges, oldest first; those that were merged with a branch too, or ``first_parent``.

    Raises UsageError for a range that git does not know.
    """
    for revrange in ranges:
        if revrange.startswith("-"):
            raise UsageError(
                f"{revrange!r} is not a revision range: it starts with `-`", "see `git help revisions`"
            )
    try:
        options = ["--merges", "--topo-order", "--reverse", *(["--first-parent"] if first_parent else [])]
        listed = repository.git.text("rev-list", *options, "--end-of-options", *ranges, "--")
    except StackmergeError as error:
        raise UsageError(f"{' '.join(ranges)}: {error.message}", "write a range like `v1.0..main`") from error
    return listed.split()


def train(
    repository: Repository,
    commits: Iterable[str],
    watch: Callable[[str], None] = lambda _: None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Trained:
    """Learn from merge commits, oldest first, and save what was learned.

    ``names`` are the steps that they belong to, where those are known better than by the merge's own words.
    """
    resolutions = repository.resolutions()
    counts: Counter[str] = Counter()
    skipped: list[str] = []
    for oid in commits:
        commit = repository.objects.commit(oid)
        if len(commit.parents) != 2:
            skipped.append(f"{oid[:12]} has {len(commit.parents)} parents")
            continue
        watch(commit.subject)
        counts["merges"] += 1
        step = names.get(oid, "") or topic(commit.message)
        counts["conflicted"] += learn_from(repository, resolutions, oid, commit, step)
    kinds = Counter(type(found) for found in resolutions.added)
    save(repository, resolutions, f"train on {counts['merges']} merges")
    return Trained(
        counts["merges"], counts["conflicted"], kinds[Text], kinds[Exact], kinds[Fixup], tuple(skipped)
    )  # fmt: skip


def learn_from(repository: Repository, resolutions: Resolutions, oid: str, commit: Commit, step: str) -> bool:
    """Learn from one merge commit; whether it conflicted."""
    ours, head = commit.parents
    merged = repository.merger.merge(ours, head)
    if not merged.conflicts and merged.tree == commit.tree:
        return False
    provenance = Provenance(
        source="train",
        step=step,
        head=head,
        parents=commit.parents,
        commit=oid,
        who=commit.author.who,
        when=commit.author.when,
        git=repository.git.version_text,
    )
    learn(repository, resolutions, merged, commit.tree, provenance)
    return bool(merged.conflicts)
