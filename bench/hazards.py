"""Runs the hazard rules on the merges of a real history: what they flag, and what they cost.

    git clone --bare URL REPOSITORY
    python bench/hazards.py --repository REPOSITORY --merges N [--show KIND] [--rules all]

Takes the newest N merges of two parents that git merges cleanly, makes each once more and asks the generic
checks (with ``--rules all`` every shipped rule) about it. Every one of these merges was accepted by the people
of that project, so a block is a false one unless a reading says otherwise. Prints the flagged merges by kind,
the time of merging with and without the check in one run, and with ``--show`` each finding.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from common import table

from stackmerge.hazard.evaluate import check
from stackmerge.hazard.finding import NOT_CHECKED, Finding, Sides
from stackmerge.hazard.library import Rules, load
from stackmerge.hazard.relevance import relevant
from stackmerge.hazarded import base_tree
from stackmerge.merge import Merged
from stackmerge.repository import Repository


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--merges", type=int, default=1000)
    parser.add_argument("--show", default="", help="a rule's id, or `all`: print its findings")
    parser.add_argument("--rules", choices=["generic", "all"], default="generic")
    parser.add_argument("--tip", default="HEAD", help="the newest commit to look at")
    options = parser.parse_args()
    rules = load([])
    if options.rules == "generic":
        rules = replace(rules, files=tuple(rule.file for rule in rules if rule.check))
    with Repository(options.repository) as repository:
        repository.keep_commit_graph()
        measure(repository, rules, options)
    return 0


def measure(repository: Repository, rules: Rules, options: argparse.Namespace) -> None:
    flagged: Counter[tuple[str, str]] = Counter()
    merging: list[float] = []
    checking: list[float] = []
    any_finding = 0
    for commit, ours, theirs, merged, seconds in clean_merges(repository, options.merges, options.tip):
        begin = time.perf_counter()
        found = ask(repository, rules, ours, theirs, merged.tree)
        checking.append(time.perf_counter() - begin)
        merging.append(seconds)
        flagged.update({(f.rule, word(f)) for f in found})
        any_finding += any(f.disposition != NOT_CHECKED for f in found)
        for finding in found:
            if options.show in ("all", finding.rule):
                show(commit, finding)
    print(f"{len(merging)} clean merges, {any_finding} of them flagged")
    rows = [(rule, how, count) for (rule, how), count in sorted(flagged.items())]
    print(table(("rule", "answer", "merges"), rows or [("none", "", 0)]))
    print(
        table(
            ("per merge", "median ms", "mean ms", "p99 ms", "max ms"),
            [("merge alone", *spread(merging)), ("check", *spread(checking))],
        )
    )


def word(finding: Finding) -> str:
    return NOT_CHECKED if finding.disposition == NOT_CHECKED else finding.severity


def ask(repository: Repository, rules: Rules, ours: str, theirs: str, merged: str) -> tuple[Finding, ...]:
    objects = repository.objects
    trees = [objects.commit(side).tree for side in (ours, theirs)]
    if not relevant(objects, trees[0], trees[1], merged, rules):
        return ()
    return check(objects, Sides(base_tree(repository, ours, theirs), *trees, merged), rules, step="")


def clean_merges(
    repository: Repository, count: int, tip: str
) -> Iterator[tuple[str, str, str, Merged, float]]:
    """The newest merges that git makes without a conflict, each with the time that took."""
    command = ["git", "-C", str(repository.common_dir), "rev-list", "--merges", "--parents", tip]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    for line in lines:
        commit, *parents = line.split()
        if count <= 0:
            return
        if len(parents) != 2:
            continue
        begin = time.perf_counter()
        merged = repository.merger.merge(*parents)
        seconds = time.perf_counter() - begin
        if not merged.conflicts:
            count -= 1
            yield commit, parents[0], parents[1], merged, seconds


def show(commit: str, finding: Finding) -> None:
    print(f"{commit[:12]} {finding.rule} {word(finding)} {finding.path}: {finding.reason}")
    for number, text in finding.lines[:4]:
        print(f"    {number}: {text}")


def spread(seconds: list[float]) -> tuple[str, ...]:
    ordered = sorted(seconds)
    p99 = ordered[int(0.99 * (len(ordered) - 1))]
    return tuple(
        f"{1000 * s:.1f}" for s in (statistics.median(ordered), statistics.fmean(ordered), p99, ordered[-1])
    )


if __name__ == "__main__":
    raise SystemExit(main())
