"""Prints what the hazard rules cost, on trees made for it: with the check and without, in one run.

    python bench/hazard_speed.py [--rounds N]

1. A step that changes 500 Python files: every shipped rule, and the canonical rule with its paths opened to `**`.
2. The canonical case in a file of 10,000 lines.
3. A rebuild of 20 steps that bring nothing which a rule looks at, with the rules and without, turn by turn.

1 and 2 are CPU time, 3 is wall time.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pygit2
from common import table, target

from stackmerge import rebuilding
from stackmerge.hazard.evaluate import check, verdicts
from stackmerge.hazard.finding import Sides
from stackmerge.hazard.library import load, shipped
from stackmerge.objects import EMPTY_TREE, Objects
from stackmerge.outcome import Options
from stackmerge.rawtree import Entry
from stackmerge.rebuild import rebuild
from stackmerge.repository import Repository
from stackmerge.stack import open_stack

DISK = "python/freetoken/models/qwen4_exp/ple_disk.py"
FILES, LINES, STEPS = 500, 10_000, 20


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="bench-hazards-") as name:
        rows = [
            *many_files(Path(name), rounds),
            *long_file(Path(name), rounds),
            *no_paths(Path(name), rounds),
        ]
    print(table(("what", "median", "target"), rows))
    return 0


def median_ms(rounds: int, work: Callable[[], object]) -> float:
    """CPU time of this process: what a machine takes that has nothing else to do."""
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append(1000 * (time.process_time() - begin))
    return statistics.median(times)


def many_files(place: Path, rounds: int) -> list[tuple[str, str, str]]:
    objects = Objects(pygit2.init_repository(str(place / "many.git"), bare=True))
    body = "".join(f"def function_{n}(value):\n    return value + {n}\n\n\n" for n in range(50))
    base = {f"package/part_{n % 20}/module_{n}.py": body for n in range(FILES)}
    ours = {
        name: text + "\nOURS = 1\n" if n % 5 == 0 else text for n, (name, text) in enumerate(base.items())
    }
    theirs = {name: f"THEIRS = {n}\n{text}" for n, (name, text) in enumerate(base.items())}
    merged = {name: f"THEIRS = {n}\n{text}" for n, (name, text) in enumerate(ours.items())}
    sides = Sides(*(tree(objects, files) for files in (base, ours, theirs, merged)))
    pack(place / "many.git", sides)
    rules = load([])
    canonical = replace(rules.get("ple-graph-fence"), paths=("**",))

    def canonical_everywhere() -> None:
        assert not any(verdict.matched for verdict in verdicts(objects, sides, canonical))

    first = median_ms(1, lambda: check(objects, sides, rules, step=""))
    every = median_ms(rounds, lambda: check(objects, sides, rules, step=""))
    alone = median_ms(rounds, canonical_everywhere)
    small = Sides(
        sides.base, sides.ours, *(edited(objects, sides, tree_id) for tree_id in (sides.base, sides.ours))
    )
    return [
        (f"one rule of facts on {FILES} changed files", f"{alone:.1f} ms", target(alone, 10, " ms")),
        (f"every rule, 5 of {FILES} files changed", *timed(rounds, objects, small, 10)),
        (
            f"every rule, {FILES} files changed, 100 of them by both",
            f"{every:.1f} ms (first {first:.0f} ms)",
            "",
        ),
    ]


def pack(repository: Path, sides: Sides) -> None:
    """Put everything into a pack, as it is in a repository that was cloned."""
    names = "\n".join(str(tree_id) for tree_id in sides)
    listed = subprocess.run(
        ["git", "-C", repository, "rev-list", "--objects", "--no-object-names", "--stdin"],
        input=names, capture_output=True, text=True, check=True,
    )  # fmt: skip
    place = repository / "objects" / "pack" / "pack"
    subprocess.run(
        ["git", "-C", repository, "pack-objects", "-q", place], input=listed.stdout.encode(), check=True
    )
    subprocess.run(["git", "-C", repository, "prune-packed", "-q"], check=True)


def edited(objects: Objects, sides: Sides, start: str) -> str:
    """``start`` with five files as theirs has them."""
    names = [f"package/part_{n % 20}/module_{n}.py" for n in (1, 2, 3, 4, 6)]
    return objects.edit(start, {name: objects.lookup(sides.theirs, name) for name in names})


def timed(rounds: int, objects: Objects, sides: Sides, limit: float) -> tuple[str, str]:
    rules = load([])
    check(objects, sides, rules, step="")
    took = median_ms(rounds, lambda: check(objects, sides, rules, step=""))
    return f"{took:.1f} ms", target(took, limit, " ms")


def long_file(place: Path, rounds: int) -> list[tuple[str, str, str]]:
    objects = Objects(pygit2.init_repository(str(place / "long.git"), bare=True))
    text = {
        s: (shipped() / "ple-graph-fence" / s / DISK).read_text()
        for s in ("base", "ours", "theirs", "bad", "good")
    }
    more = "".join(f"\n\ndef function_{n}(value):\n    return value + {n}\n" for n in range(LINES // 5))
    trees = {side: tree(objects, {DISK: content + more}) for side, content in text.items()}
    rows = []
    for result in ("bad", "good"):
        sides = Sides(trees["base"], trees["ours"], trees["theirs"], trees[result])
        took, word = timed(rounds, objects, sides, 200)
        rows.append((f"every rule, the canonical case in {LINES} lines, {result}", took, word))
    return rows


def no_paths(place: Path, rounds: int) -> list[tuple[str, str, str]]:
    folder = place / "fork"
    make_fork(folder)
    with Repository(folder) as repository:
        stack = open_stack(repository, folder / "stackmerge.yaml")
        with_rules = rebuilding.hazards_of

        def run() -> None:
            outcome = rebuild(stack, None, Options(fresh=True, gates="off"))
            assert outcome.exit_code == 0, outcome

        run()
        times: dict[str, list[float]] = {"with": [], "without": []}
        for _ in range(rounds):
            for how, hazards in (("with", with_rules), ("without", lambda *_: None)):
                rebuilding.hazards_of = hazards  # type: ignore[assignment]
                begin = time.perf_counter()
                run()
                times[how].append(1000 * (time.perf_counter() - begin))
        rebuilding.hazards_of = with_rules
    ratios = [100 * (a / b - 1) for a, b in zip(times["with"], times["without"], strict=True)]
    extra = statistics.median(ratios)
    took = {how: statistics.median(found) for how, found in times.items()}
    return [
        (f"rebuild of {STEPS} steps without the rules", f"{took['without']:.0f} ms", ""),
        (
            f"rebuild of {STEPS} steps, none matching",
            f"{took['with']:.0f} ms",
            f"{extra:+.1f}%, {target(extra, 2, '%')}",
        ),
    ]


def make_fork(folder: Path) -> None:
    """A stack of steps that each add a text file."""

    def git(*args: str) -> None:
        who = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost"]
        subprocess.run(["git", *who, "-C", folder, *args], check=True, capture_output=True)

    folder.mkdir()
    git("init", "-q", "-b", "main")
    git("config", "user.name", "Bench")
    git("config", "user.email", "bench@localhost")
    for n in range(FILES):
        (folder / f"page_{n}.txt").write_text(f"page {n}\n")
    git("add", "-A")
    git("commit", "-qm", "base")
    steps = ""
    for n in range(STEPS):
        git("checkout", "-q", "-b", f"step-{n}", "main")
        (folder / f"new_{n}.txt").write_text(f"new {n}\n")
        git("add", "-A")
        git("commit", "-qm", f"step {n}")
        steps += f"- name: step-{n}\n  merge: step-{n}\n"
    git("checkout", "-q", "main")
    (folder / "stackmerge.yaml").write_text(f"stack: deploy\nbase: main\nsteps:\n{steps}")


def tree(objects: Objects, files: dict[str, str]) -> str:
    entries = {name: Entry(0o100644, objects.write_blob(text.encode())) for name, text in files.items()}
    return objects.edit(EMPTY_TREE, dict(entries))


if __name__ == "__main__":
    raise SystemExit(main())
