"""Prints the time per step of generated stacks of several sizes: does a long stack cost more per step?

    python bench/stack_size.py [--git PROGRAM ...] [--sizes 100 1000] [--rounds N]

Each stack is a repository of its own, made by `git fast-import` on the same base of 2,000 files: every step merges
a head of one commit that changes two files; every tenth conflicts with the step below it, and its resolution was
learned by `adopt`. Times are those of whole processes, start included, as medians over rounds in which every size
runs once; `net` leaves out what a stack of one step takes. On `a new base` every commit is new, and loose.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from common import (
    Git,
    Ran,
    answer,
    interleaved,
    machine,
    median_cpu,
    median_s,
    run,
    stackmerge,
    table,
    target,
    workplace,
)

FILES, LINES = 2_000, 40
REPLAY_EVERY = 10
LIMIT = 1.2


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--git", action="append", metavar="PROGRAM", help="a git program; more than one will do"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000], metavar="N", help="steps")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds (default: 3)")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep the repositories here")
    options = parser.parse_args()
    programs = options.git or ["git"]
    with workplace(options.work) as place:
        print(machine(Git(program, place) for program in programs), end="\n\n", flush=True)
        sizes = [1, *options.sizes]
        stacks = {size: adopted_stack(place / f"{size}", size) for size in sizes}
        for program in programs:
            print(measured(program, stacks, options.rounds), flush=True)
    return 0


# Making stacks


def adopted_stack(repository: Path, steps: int) -> Path:
    run(["git", "init", "--quiet", "--bare", "--initial-branch=main", repository])
    git = Git("git", repository)
    git.run("fast-import", "--quiet", stdin="".join(stream(steps)).encode())
    stackmerge(repository, "adopt", "--base", "base", "--tip", "deploy")
    return repository


def path(number: int) -> str:
    return f"d{number % 50:02}/f{number % FILES:04}.txt"


def content(number: int, changes: dict[int, str] | None = None) -> str:
    lines = [f"file {number % FILES} line {line}" for line in range(LINES)]
    for line, text in (changes or {}).items():
        lines[line] = text
    return "\n".join(lines) + "\n"


def stream(steps: int) -> Iterator[str]:
    """A fast-import stream: branch ``base``, ``newer`` with one commit more, heads, and ``deploy``."""
    files = {path(number): content(number) for number in range(FILES)}
    yield commit("refs/heads/base", 1, "base", files)
    yield commit("refs/heads/newer", 2, "newer", {"news": "new\n"}, "refs/heads/base")
    for step in range(steps):
        changed, merged = changes(step)
        yield commit(f"refs/heads/head-{step}", 4 + step, f"head {step}", changed, "refs/heads/base")
        yield commit(
            "refs/heads/deploy",
            4 + step,
            f"Merge branch 'head-{step}'",
            merged,
            "refs/heads/base" if not step else "",
            merge=f"refs/heads/head-{step}",
        )


def changes(step: int) -> tuple[dict[str, str], dict[str, str]]:
    """What a head changes, and what its merge changes; they differ where it conflicts with the step below it."""
    own = {f"new/d{step % 50:02}/n{step}.txt": f"step {step}\n"}
    line = 1 + step // FILES
    conflicts = step % REPLAY_EVERY == REPLAY_EVERY - 1
    number = step - 1 if conflicts else step
    text = {line: f"changed by step {step}"}
    both = {line: f"changed by steps {step - 1} and {step}"} if conflicts else text
    return own | {path(number): content(number, text)}, own | {path(number): content(number, both)}


def commit(
    ref: str,
    when: int,
    message: str,
    files: dict[str, str],
    parent: str = "",
    merge: str = "",
) -> str:
    date = f"{1_700_000_000 + when} +0000"
    lines = [f"commit {ref}\nauthor A <a@b> {date}\ncommitter A <a@b> {date}\n", data(message)]
    lines += [f"from {parent}\n"] if parent else []
    lines += [f"merge {merge}\n"] if merge else []
    return "".join([*lines, *(f"M 100644 inline {name}\n{data(text)}" for name, text in files.items()), "\n"])


def data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


# Measuring


def measured(program: str, stacks: dict[int, Path], rounds: int) -> str:
    """The table of one git."""
    smallest, *sizes = stacks
    rows = []
    for what, args in (
        ("--fresh", ("rebuild", "--onto", "base", "--fresh")),
        ("nothing changed", ("rebuild", "--onto", "base")),
        ("--fresh, a new base", ("rebuild", "--onto", "newer", "--fresh")),
    ):
        runs = interleaved(rounds, sides(program, stacks, args))
        first = per_step(runs[str(sizes[0])], sizes[0])
        for size in sizes:
            mine = runs[str(size)]
            ratio = statistics.median(a / b for a, b in zip(per_step(mine, size), first, strict=True))
            net = (median_s(mine) - median_s(runs[str(smallest)])) / (size - smallest) * 1000
            limit = target(ratio, LIMIT, " x") if what == "--fresh" and size != sizes[0] else ""
            times = f"{median_s(mine):.2f}", f"{median_cpu(mine):.2f}"
            each = f"{median_s(mine) / size * 1000:.2f}", f"{net:.2f}"
            peak = f"{max(ran.peak_mb for ran in mine):.0f}"
            rows.append([what, size, *times, *each, f"{ratio:.2f}", peak, limit])
    head = ("rebuild", "steps", "seconds", "CPU s", "ms a step", "net", "ratio", "peak MB", "target")
    return (
        f"git {Git(program, stacks[smallest]).version}, medians of {rounds} rounds\n\n{table(head, rows)}\n"
    )


def sides(program: str, stacks: dict[int, Path], args: Sequence[str]) -> dict[str, Callable[[], Ran]]:
    return {str(size): partial(rebuilt, program, stacks[size], args) for size in stacks}


def rebuilt(program: str, repository: Path, args: Sequence[str]) -> Ran:
    """One rebuild of an accepted stack; one on another base is undone afterwards."""
    git = Git(program, repository)
    tip = git.text("rev-parse", "refs/heads/deploy")
    ran = stackmerge(repository, *args, git=program)
    found = answer(ran)
    assert found["status"] == "complete"
    if found["tip"] != tip:
        assert "newer" in args
        stackmerge(repository, "undo", git=program)
    return ran


def per_step(runs: Sequence[Ran], steps: int) -> list[float]:
    return [ran.seconds / steps for ran in runs]


if __name__ == "__main__":
    sys.exit(main())
