"""What a step brings: its commits, and the lines that its pull request's diff will show."""

from __future__ import annotations

from stackmerge.describe.facts import CommitFact, FileFact
from stackmerge.libgit2 import pygit2
from stackmerge.record import StepRecord
from stackmerge.repository import Repository

SHOWN = 30


def commits(repository: Repository, record: StepRecord) -> list[CommitFact]:
    """The commits of a step's head that are not below it, oldest first, without merges."""
    objects = repository.objects
    if record.kind == "pick":
        found = [record.head]
    else:
        order = pygit2.enums.SortMode.TOPOLOGICAL | pygit2.enums.SortMode.REVERSE
        walk = repository.raw.walk(record.head, order)
        walk.hide(record.below)
        found = [str(commit.id) for commit in walk if len(commit.parent_ids) <= 1]
    made = [(oid, objects.commit(oid)) for oid in found]
    return [CommitFact(oid, commit.subject, commit.author.who.partition(" <")[0]) for oid, commit in made]


def files(repository: Repository, record: StepRecord) -> list[FileFact]:
    """Each file that differs between the step and what is below it, with its lines added and removed."""
    below = repository.raw[repository.objects.commit(record.below).tree].peel(pygit2.Tree)
    made = repository.raw[repository.objects.commit(record.commit).tree].peel(pygit2.Tree)
    diff = below.diff_to_tree(made)
    found = []
    for patch in diff:
        if patch is None:  # a mode alone
            continue
        _, added, removed = patch.line_stats
        path = patch.delta.new_file.raw_path.decode("utf-8", "surrogateescape")
        binary = patch.delta.is_binary
        found.append(FileFact(path, None if binary else added, None if binary else removed))
    return sorted(found, key=lambda file: file.path)
