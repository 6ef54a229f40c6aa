"""Tries recorded resolutions on a real history: what replays, and is it what the maintainer committed?

    python bench/history.py --repository git.git [--since DATE] [--train REVS] [--try BRANCH] [--clean] [--list]

A trial is a first-parent merge of --try since DATE, of two parents, that conflicts when git makes it again.
Training merges are those of `git rev-list --merges --since=DATE REVS`, REVS being arguments of rev-list, so

    --train "--first-parent next"           the merges that its maintainer made (the default)
    --train next                            every merge that next reaches, those of contributors too
    --train "--all --grep='into next$'"     the merges into every next that some ref still reaches

Three states of knowledge, each a row: "recorded" is all of the training, the trial's own merge included where
REVS reach it; "earlier" only what has an older committer date than the trial; "earlier, both" adds the
older merges of --try itself. In each, and from the same records, the peer is git's rerere: every variant in
git's order, the first clean replay wins, file by file, whatever the path. It is worked out with
stackmerge.rerere and `git merge-file`, which tests/property shows to equal git's own id, preimage and replay.

The repository is only read: whatever is written goes to a temporary one that borrows its objects. Set
STACKMERGE_GIT to a git of 2.49 or later to have it in minutes.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from stackmerge import rerere
from stackmerge.learn import learn
from stackmerge.merge import Conflict, Merged
from stackmerge.mergefile import merge_file
from stackmerge.rawtree import Entry
from stackmerge.replay import Replayer, settled_path
from stackmerge.repository import Repository
from stackmerge.resolution import Provenance
from stackmerge.resolutions import Resolutions
from stackmerge.train import topic

SAME, DIFFERENT, STOPPED = "same tree", "different tree", "stopped"
RESULTS = (SAME, DIFFERENT, STOPPED)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--since", default="2021-01-01")
    parser.add_argument("--train", default="--first-parent next", metavar="REVS")
    parser.add_argument("--try", default="master", dest="tried", metavar="BRANCH")
    parser.add_argument("--clean", action="store_true", help="also try the merges that git makes cleanly")
    parser.add_argument("--list", action="store_true", help="name each different or stopped trial, and why")
    options = parser.parse_args()
    scratch = tempfile.TemporaryDirectory(prefix="stackmerge-history-")
    with scratch as name, borrowed(options.repository, Path(name)) as repository:
        history = History(repository, options.repository, options.since)
        report(history, shlex.split(options.train), options)
    return 0


def borrowed(source: Path, scratch: Path) -> Repository:
    """A repository of our own that reads the objects of ``source``."""
    git = ["git", "-C", str(source), "rev-parse", "--path-format=absolute", "--git-path", "objects"]
    objects = subprocess.run(git, check=True, capture_output=True, text=True).stdout
    subprocess.run(["git", "init", "-q", "--bare", str(scratch)], check=True)
    (scratch / "objects/info").mkdir(exist_ok=True)
    (scratch / "objects/info/alternates").write_text(objects)
    return Repository(scratch)


# What is tried and what is trained on


class History:
    """The merges of a repository, each made again once to see what git makes of it."""

    def __init__(self, repository: Repository, source: Path, since: str) -> None:
        self.repository = repository
        self._list = ["git", "-C", str(source), "rev-list", "--merges", "--reverse", f"--since={since}"]
        self._made: dict[str, Merged] = {}

    def merges(self, *revs: str) -> list[str]:
        """The merges of two parents that rev-list names, oldest committer date first."""
        listed = subprocess.run([*self._list, *revs], check=True, capture_output=True, text=True).stdout
        commits = [oid for oid in listed.split() if len(self.repository.objects.commit(oid).parents) == 2]
        return sorted(commits, key=self.date)

    def date(self, oid: str) -> int:
        return self.repository.objects.commit(oid).committer.when

    def remake(self, oid: str) -> Merged:
        """What git makes of a merge, with the attributes of its first parent in force."""
        commit = self.repository.objects.commit(oid)
        if oid in self._made:
            self.repository.attributes.use(self.repository.objects.commit(commit.parents[0]).tree)
        else:
            self._made[oid] = self.repository.merger.merge(*commit.parents)
            if sys.stderr.isatty():
                print(f"\r{len(self._made)} merges made again", end="", file=sys.stderr)
        return self._made[oid]

    def kind(self, oid: str) -> str:
        """``conflict``; ``clean`` when git makes the very tree again; ``evil`` when somebody changed more."""
        merged = self._made.get(oid) or self.remake(oid)
        if merged.conflicts:
            return "conflict"
        return "clean" if merged.tree == self.repository.objects.commit(oid).tree else "evil"


# Trying


@dataclass
class Score:
    """Counts of results, and the lines for --list."""

    results: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)

    def row(self) -> str:
        resolved = self.results[SAME] + self.results[DIFFERENT]
        return " | ".join(str(n) for n in (resolved, *(self.results[name] for name in RESULTS)))


class Trainee:
    """A cache that learns from merges and is then asked about others."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._repository = history.repository
        self._resolutions = Resolutions(self._repository.objects)
        self._replayer = Replayer(
            self._repository.git, self._repository.objects, self._repository.merger, self._resolutions
        )
        self._heads: set[str] = set()
        self.ours: dict[str, Score] = defaultdict(Score)
        self.peer: dict[str, Score] = defaultdict(Score)
        self.unseen: Counter[str] = Counter()

    def learn(self, oid: str) -> None:
        commit = self._repository.objects.commit(oid)
        self._heads.add(commit.parents[1])
        if self._history.kind(oid) != "clean":
            learned = Provenance(
                source="train",
                step=topic(commit.message),
                head=commit.parents[1],
                parents=commit.parents,
                commit=oid,
                when=commit.author.when,
            )
            merged = self._history.remake(oid)
            learn(self._repository, self._resolutions, merged, commit.tree, learned)

    def try_on(self, oid: str) -> None:
        commit = self._repository.objects.commit(oid)
        below, head = commit.parents
        merged = self._history.remake(oid)
        made = self._replayer.replay(merged, head=head, step=topic(commit.message), below=below)
        reasons = [f"{settled_path(u.conflict)} ({u.conflict.kind}): {u.reason}" for u in made.unresolved]
        kind = self._history.kind(oid)
        self.unseen[kind] += bool(reasons) and head not in self._heads
        self._score(self.ours[kind], oid, "" if reasons else made.tree, reasons)
        self._score(self.peer[kind], oid, self._rerere(merged), ["some file is not resolved"])

    def _score(self, score: Score, oid: str, tree: str, reasons: list[str]) -> None:
        objects = self._repository.objects
        commit = objects.commit(oid)
        result = STOPPED if not tree else SAME if tree == commit.tree else DIFFERENT
        score.results[result] += 1
        if result == DIFFERENT:
            reasons = sorted(objects.diff(tree, commit.tree))
        if result != SAME:
            seen = "" if commit.parents[1] in self._heads else ", head not in the training"
            score.lines.append(f"{result}: {oid[:10]} {commit.subject}{seen}")
            score.lines += [f"    {reason}" for reason in reasons]

    # -- the peer

    def _rerere(self, merged: Merged) -> str:
        """The tree after git's rerere, empty when a conflict is left."""
        objects = self._repository.objects
        changes: dict[str, Entry | None] = {}
        for conflict in merged.conflicts:
            there = objects.lookup(merged.tree, conflict.path)
            answer = self._rerere_file(conflict, there.oid) if conflict.is_text and there else None
            if there is None or answer is None:
                return ""
            changes[conflict.path] = Entry(there.mode, answer)
        return objects.edit(merged.tree, changes)

    def _rerere_file(self, conflict: Conflict, there: str) -> str | None:
        attributes = self._repository.attributes
        own = attributes.of([conflict.path])[conflict.path]
        try:
            data = attributes.smudged(conflict.path, there, own)
            parsed = rerere.parse(data, marker_size=own.marker_size)
        except rerere.MalformedConflict:
            return None
        for text in self._resolutions.text(parsed.id) if parsed else []:
            assert parsed is not None
            before, after = (self._repository.objects.blob(oid) for oid in (text.preimage, text.postimage))
            same = before == parsed.preimage
            found = after if same else merge_file(self._repository.git, before, parsed.preimage, after, own)
            if found is not None:
                return attributes.cleaned(conflict.path, found, own)
        return None


def recorded(history: History, training: Iterable[str], trials: Iterable[str]) -> Trainee:
    trainee = Trainee(history)
    for oid in training:
        trainee.learn(oid)
    for oid in trials:
        trainee.try_on(oid)
    return trainee


def earlier(history: History, training: Iterable[str], trials: Iterable[str]) -> Trainee:
    trainee = Trainee(history)
    waiting = iter(training)
    following = next(waiting, None)
    for oid in trials:
        while following and history.date(following) < history.date(oid):
            trainee.learn(following)
            following = next(waiting, None)
        trainee.try_on(oid)
    return trainee


# The tables


def report(history: History, train: list[str], options: argparse.Namespace) -> None:
    training = history.merges(*train)
    tried = history.merges("--first-parent", options.tried)
    counts = Counter(map(history.kind, tried))
    trained = Counter(map(history.kind, training))
    print(
        f"git {history.repository.git.version_text}. Since {options.since}, {len(tried)} first-parent merges of"
        f" {options.tried}: {counts['conflict']} conflict, {counts['clean']} are clean, {counts['evil']} are clean"
        f" but changed by hand. Training: {len(training)} merges of `{options.train}`, {trained['conflict']} of"
        " them conflicted.\n"
    )
    kinds = ("conflict", "evil", "clean") if options.clean else ("conflict",)
    trials = [oid for oid in tried if history.kind(oid) in kinds]
    trainees = {
        "recorded": recorded(history, training, trials),
        "earlier": earlier(history, training, trials),
        "earlier, both": earlier(history, sorted({*training, *tried}, key=history.date), trials),
    }
    for kind in kinds:
        print("\n".join(table(kind, counts[kind], trainees, options.list)) + "\n", flush=True)


def table(kind: str, count: int, trainees: dict[str, Trainee], details: bool) -> Iterator[str]:
    columns = " | ".join(f"{who}: resolved | {' | '.join(RESULTS)}" for who in ("rerere", "stackmerge"))
    yield f"| {kind}: {count} trials, trained on | {columns} | of these, head not in the training |"
    yield "|---" * 10 + "|"
    for name, trainee in trainees.items():
        yield f"| {name} | {trainee.peer[kind].row()} | {trainee.ours[kind].row()} | {trainee.unseen[kind]} |"
    for name, trainee in trainees.items() if details else ():
        for who, score in (("rerere", trainee.peer[kind]), ("stackmerge", trainee.ours[kind])):
            shown = score.lines if who == "stackmerge" else [x for x in score.lines if DIFFERENT in x]
            yield from ("", f"{name}, {who}:", *shown)


if __name__ == "__main__":
    raise SystemExit(main())
