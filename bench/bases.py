"""Rebuilds git.git's `seen` on each of the last commits of master, and compares every step with `git merge`.

    git clone --bare https://github.com/git/git git.git
    python bench/bases.py --repository git.git [--git PROGRAM] [--bases N]

The clone must hold the commits 1a3e64c6c4 (master) and be84a0ce2b (seen). On each base the stack is rebuilt with
--keep-going, and beside it by a loop of `git merge` in a work tree, with rerere trained on the same merges; the
loop too skips a step that stays conflicted. After a step that came out differently the loop goes on from our
commit, so that each step is compared on the same tree below it. Every difference is printed with its reason;
one that no exact resolution, fixup or landed step explains is called a BUG.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import BASE, TIP, Git, Step, adopted_copy, answer, machine, stackmerge, table, workplace
from merge_loop import LoopStep, MergeLoop

from stackmerge.proof import prove_run
from stackmerge.repository import Repository
from stackmerge.stack import open_stack

_MOVED_ASIDE = re.compile(r"~[^/]*$")


@dataclass(frozen=True)
class Difference:
    """One step that came out otherwise than in the loop, and why."""

    step: str
    ours: str
    loop: str
    reason: str


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repository", type=Path, required=True, metavar="DIR", help="a bare clone of git.git"
    )
    parser.add_argument("--git", default="git", metavar="PROGRAM", help="the git program of both sides")
    parser.add_argument("--bases", type=int, default=20, metavar="N", help="how many (default: 20)")
    parser.add_argument(
        "--below", default=BASE, metavar="REV", help="whose first-parent history (default: master)"
    )
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep the copy here")
    options = parser.parse_args()
    with workplace(options.work) as place:
        copy = adopted_copy(options.repository, place)
        git = Git(options.git, copy)
        print(machine([git]), end="\n\n", flush=True)
        loop = MergeLoop(git.program, copy, place / "work-tree")
        loop.train(git.steps(BASE, TIP))
        return compare_all(git, loop, options.below, options.bases)


def compare_all(git: Git, loop: MergeLoop, below: str, count: int) -> int:
    adopted = git.text("rev-parse", "refs/stackmerge/seen/accepted/1")
    bases = git.text("rev-list", "--first-parent", f"--max-count={count}", below).split()
    rows: list[list[object]] = []
    differences: list[tuple[str, Difference]] = []
    for number, base in enumerate(bases):
        found = rebuild(git, base, adopted)
        here = compare(loop, base, found["steps"])
        differences += [(f"~{number}", difference) for difference in here]
        counts = Counter(step["outcome"] for step in found["steps"])
        rows.append(
            [f"~{number} {base[:10]}", len(found["steps"]) - len(here), len(here)]
            + [counts[outcome] for outcome in ("clean", "replayed", "fixup", "landed", "empty", "conflict")]
            + [found["status"], found["proof_in_words"]]
        )
        print(f"~{number} {base[:10]}: {len(here)} differences", file=sys.stderr)
    head = (
        "base",
        "same",
        "other",
        "clean",
        "replayed",
        "fixup",
        "landed",
        "empty",
        "conflict",
        "status",
        "proof",
    )
    print(table(head, rows), end="\n\n")
    return report(differences, sum(int(str(row[1])) for row in rows))


def report(differences: list[tuple[str, Difference]], same: int) -> int:
    lines = [[base, d.step, d.ours, d.loop, d.reason] for base, d in differences]
    print(table(("base", "step", "stackmerge", "loop", "reason"), lines), end="\n\n")
    reasons = Counter(d.reason.partition(":")[0] for _, d in differences)
    said = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()) or "none"
    print(f"{same} steps came out the same; differences: {said}; bugs: {reasons['BUG']}")
    return 1 if reasons["BUG"] else 0


def rebuild(git: Git, base: str, adopted: str) -> dict[str, Any]:
    """Rebuild on ``base`` from the adopted state; that state is the accepted one again afterwards."""
    rebuilt = stackmerge(
        git.directory, "rebuild", "--onto", base, "--keep-going", "--fresh", git=git.program, ok=(0, 3, 6)
    )
    found = answer(rebuilt)
    found["proof_in_words"] = proof_of_last(git.directory, adopted)
    if found["state"] == "accepted" and found["tip"] != TIP:
        stackmerge(git.directory, "undo", git=git.program)
    return found


def proof_of_last(repository: Path, adopted: str) -> str:
    """The proof of the last rebuild against the adopted state, made even where a conflict skipped a step."""
    with Repository(repository) as opened:
        stack = open_stack(opened, repository / "stackmerge.yaml")
        run = stack.last_run()
        before = stack.journal.read(adopted)
        assert run
        assert before
        proof = prove_run(opened, before, run)
    bad = [f"{path.path} {path.verdict}" for path in proof.failures]
    return "holds" if proof.holds else f"fails at {len(bad)}: {', '.join(bad[:3])}"


def compare(loop: MergeLoop, base: str, records: list[dict[str, Any]]) -> list[Difference]:
    """Make each step with `git merge` on what lies below it, and list those that come out differently."""
    loop.reset_cache()
    loop.go_to(base)
    differences = []
    for record in records:
        made = loop.step(Step(record["kind"], record["head"], record["commit"], ""))
        reason = difference(loop.git, record, made)
        if reason:
            differences.append(Difference(record["name"], in_words(record), loop_in_words(made), reason))
            loop.go_to(record["commit"])
    return differences


def difference(git: Git, record: dict[str, Any], made: LoopStep) -> str:
    """Why a step came out differently; empty where it did not."""
    ours = unresolved(record)
    theirs = {_MOVED_ASIDE.sub("", path) for path in made.unresolved}
    used = {used["path"]: used["kind"] for used in record["resolutions"]}
    if ours or theirs:
        if ours == theirs:
            return ""
        resolved = theirs - ours
        if not ours - theirs and all(used.get(path) == "exact" for path in resolved):
            return f"exact: {', '.join(sorted(resolved))}"
        return f"BUG: {reasons_in_words(record)}"
    if record["tree"] == made.tree:
        return ""
    if record["outcome"] in ("landed", "empty"):
        return f"landed: {record['landed']}"
    changed = set(git.text("diff", "--name-only", "--no-renames", record["tree"], made.tree).split("\n"))
    fixed = {path for path, kind in used.items() if kind == "fixup"}
    kinds = "fixup" if changed <= fixed else "BUG"
    return f"{kinds}: {', '.join(sorted(changed))}"


def unresolved(record: dict[str, Any]) -> set[str]:
    return {conflict["path"] for conflict in record["conflicts"] if conflict["reason"]}


def in_words(record: dict[str, Any]) -> str:
    left = unresolved(record)
    return (
        f"{record['outcome']} {', '.join(sorted(left))}"
        if left
        else f"{record['outcome']} {record['tree'][:10]}"
    )


def loop_in_words(made: LoopStep) -> str:
    return f"conflict {', '.join(sorted(made.unresolved))}" if made.unresolved else f"merged {made.tree[:10]}"


def reasons_in_words(record: dict[str, Any]) -> str:
    return "; ".join(f"{c['path']}: {c['reason']}" for c in record["conflicts"] if c["reason"])


if __name__ == "__main__":
    sys.exit(main())
