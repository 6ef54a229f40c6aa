"""Prints what a rebuild of git.git's `seen` takes, beside what a `git merge` loop and bare merges take.

    git clone --bare https://github.com/git/git git.git
    python bench/seen.py --repository git.git [--git PROGRAM ...] [--pairs N]

The clone must hold the commits 1a3e64c6c4 (master) and be84a0ce2b (seen); branches move, so they are named by
id. It is copied first and only read. First the rebuild itself is checked: 66 of 66 steps must get the commit ids
that the maintainer gave them. Times are medians over rounds in which every side runs once; ratios and
differences are medians of those of each round. What the hazard rules find in a merge is kept between rebuilds, also
with --fresh, so a rebuild is timed both with it and after it was forgotten. On the base of before, git is told ahead
which merges will probably come; a row says what a rebuild takes where it is not, as on a new base. Peak memory is that
of the largest process, and for stackmerge also that of its own process and of the floor added up, since both run at
once.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from common import (
    BASE,
    TIP,
    Git,
    Ran,
    Step,
    adopted_copy,
    answer,
    interleaved,
    machine,
    median_cpu,
    median_s,
    run,
    stackmerge,
    table,
    target,
    together,
    workplace,
)
from merge_loop import MergeLoop

FRESH = ("rebuild", "--onto", BASE, "--fresh")
UNCHANGED = ("rebuild", "--onto", BASE)
PIPE_SINCE = (2, 49)
# Runs stackmerge without telling git ahead what will probably come, as on a base where that cannot be told.
NOT_TOLD = """
import stackmerge.ahead
stackmerge.ahead.begin = lambda *args, **options: None
from stackmerge.__main__ import main
main()
"""
# Runs stackmerge and says what its own process needed, in KiB. Children do not count: one that was just forked
# shows the memory of its parent.
MEMORY = """
import resource
from stackmerge.cli import app
try:
    app()
finally:
    print("\\n" + str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repository", type=Path, required=True, metavar="DIR", help="a bare clone of git.git"
    )
    parser.add_argument(
        "--git", action="append", metavar="PROGRAM", help="a git program; more than one will do"
    )
    parser.add_argument("--pairs", type=int, default=5, metavar="N", help="rounds (default: 5)")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep the copy here")
    options = parser.parse_args()
    with workplace(options.work) as place:
        copy = adopted_copy(options.repository, place)
        gits = [Git(program, copy) for program in options.git or ["git"]]
        print(machine(gits), end="\n\n", flush=True)
        good = min(list(map(check, gits)))
        for number, git in enumerate(gits):
            print(measured(git, place / f"work-tree-{number}", options.pairs), flush=True)
    return 0 if good else 1


def check(git: Git) -> bool:
    """Is every step rebuilt as the very commit that the maintainer made?"""
    found = answer(stackmerge(git.directory, *FRESH, git=git.program))
    wanted = [step.commit for step in git.steps(BASE, TIP)]
    same = sum(a == b["commit"] for a, b in zip(wanted, found["steps"], strict=True))
    conflicted = sum(bool(step["conflicts"]) for step in found["steps"])
    again = sum(step["reused"] for step in found["steps"])
    print(
        f"git {git.version}: {same} of {len(wanted)} original commit ids, tip {found['tip'][:10]}, "
        f"status {found['status']}; {conflicted} steps conflicted, {again} were not made again"
    )
    return found["tip"] == TIP and same == len(wanted) and not again


def measured(git: Git, work_tree: Path, pairs: int) -> str:
    """The table of one git."""
    steps = git.steps(BASE, TIP)
    loop = MergeLoop(git.program, git.directory, work_tree)
    loop.train(steps)
    evil = loop.find_evil(BASE, steps)
    merges = [step for step in steps if step.kind == "merge"]
    runs = interleaved(
        pairs,
        {
            "fresh": lambda: stackmerge(git.directory, *FRESH, git=git.program),
            "not told": lambda: not_told(git),
            "unasked": lambda: unasked(git),
            "loop": lambda: loop.rebuild(BASE, steps, evil),
            "processes": lambda: merge_each(git, merges),
            "child": lambda: merge_in_one_child(git, merges),
            "unchanged": lambda: stackmerge(git.directory, *UNCHANGED, git=git.program),
            "help": lambda: run([sys.executable, "-P", "-m", "stackmerge", "--help"]),
        },
    )
    for name in ("fresh", "not told", "unasked", "unchanged"):
        assert all(answer(ran)["tip"] == TIP for ran in runs[name])
    assert loop.git.text("rev-parse", "HEAD^{tree}") == git.text("rev-parse", f"{TIP}^{{tree}}")
    title = f"\ngit {git.version}, medians of {pairs} rounds; the loop needs {len(evil)} trees of the maintainer\n"
    return (
        f"{title}\n{table(('what', 'seconds', 'CPU s', 'peak MB', 'against it', 'target'), rows(git, runs))}"
    )


def not_told(git: Git) -> Ran:
    """A rebuild in which git learns of each merge when the one below it is done."""
    return run(
        [sys.executable, "-P", "-c", NOT_TOLD, *FRESH, "--repo", git.directory, "--json"], git=git.program
    )


def unasked(git: Git) -> Ran:
    """A rebuild whose merges the hazard rules have not been asked about before: all that was found is forgotten."""
    forget_findings(git)
    return stackmerge(git.directory, *FRESH, git=git.program)


def forget_findings(git: Git) -> None:
    shutil.rmtree(Path(git.directory, "stackmerge", "hazards"), ignore_errors=True)


def merge_each(git: Git, merges: Sequence[Step]) -> Ran:
    """The floor of an old git: one bare `merge-tree` per merge."""
    return together(git.run("merge-tree", "--write-tree", s.below, s.head, ok=(0, 1)) for s in merges)


def merge_in_one_child(git: Git, merges: Sequence[Step]) -> Ran:
    """The floor of a new git: one bare `merge-tree` that is given all merges at once."""
    asked = "".join(f"{step.below} {step.head}\n" for step in merges)
    return git.run("merge-tree", "--write-tree", "--stdin", stdin=asked.encode())


def rows(git: Git, runs: dict[str, list[Ran]]) -> list[list[object]]:
    new = tuple(int(part) for part in git.version.split(".")[:2]) >= PIPE_SINCE
    pairs = list(zip(runs["fresh"], runs["loop"], runs["child" if new else "processes"], strict=True))
    longer = statistics.median(loop.seconds / fresh.seconds for fresh, loop, _ in pairs)
    over = statistics.median(fresh.seconds - floor.seconds for fresh, _, floor in pairs)
    child = max(ran.peak_mb for ran in runs["child"])
    memory = own_memory_mb(git) + child
    forget_findings(git)
    memory_unasked = own_memory_mb(git) + child
    limits = {
        "fresh": ("rebuild --fresh", f"{over:.2f} s over the floor", target(over, 0.4, " s")),
        "not told": ("the same, git told nothing ahead", "", ""),
        "unasked": ("the same, new to the hazard rules", "", ""),
        "loop": ("git merge loop, trained rr-cache", f"{longer:.1f} x as long", ""),
        "processes": ("merge-tree, one process per merge", "the floor" if not new else "", ""),
        "child": ("merge-tree --stdin, one child", "the floor" if new else "", ""),
        "unchanged": ("rebuild, nothing changed", "", target(median_s(runs["unchanged"]), 0.3, " s")),
        "help": ("stackmerge --help", "", target(median_s(runs["help"]), 0.15, " s")),
    }
    limits["loop"] = (*limits["loop"][:2], target(longer, 6 if new else 3.5, " x", at_least=True))
    found: list[list[object]] = []
    for name, (what, against, limit) in limits.items():
        peak = max(ran.peak_mb for ran in runs[name])
        times = f"{median_s(runs[name]):.3f}", f"{median_cpu(runs[name]):.3f}"
        found.append([what, *times, f"{peak:.0f}", against, limit])
    found.append(["rebuild --fresh with its git", "", "", f"{memory:.0f}", "", target(memory, 200, " MB")])
    whole = target(memory_unasked, 200, " MB")
    found.append(["the same, new to the hazard rules", "", "", f"{memory_unasked:.0f}", "", whole])
    return found


def own_memory_mb(git: Git) -> float:
    command = [sys.executable, "-P", "-c", MEMORY, *FRESH, "--repo", git.directory, "--json"]
    return int(run(command, git=git.program).text.rpartition("\n")[2]) / 1024


if __name__ == "__main__":
    sys.exit(main())
