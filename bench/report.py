"""Prints how long the report of a stack takes to write and to open, and how large it is.

    python bench/report.py [--sizes 66 1000] [--rounds N] [--browser PROGRAM] [--work DIR]

The stacks are those of stack_size.py, rebuilt on their newer base, with one gate's result for each step in the
journal; every tenth step shows a conflict with its answer. `write` is the whole command, start included. `open` is
from navigation to the end of the load event, `painted` to the first contentful paint, in a fresh context of headless
Chromium; `unfolded` is the time to open every step and lay the page out. Medians over rounds.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from common import Git, Ran, machine, median_cpu, median_s, stackmerge, table, target, workplace
from stack_size import adopted_stack

from stackmerge.gate.outcome import PASSED, GateResult
from stackmerge.repository import Repository
from stackmerge.stack import open_stack

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LIMIT_S = 2.0
LOG_LINES = 40
PAINTED = """() => new Promise(done => new PerformanceObserver(list => {
    const paint = list.getEntriesByName('first-contentful-paint')[0];
    if (paint) done(paint.startTime);
}).observe({type: 'paint', buffered: true}))"""
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
UNFOLD = """() => {
    const begin = performance.now();
    document.querySelectorAll('details').forEach(d => { d.open = true });
    document.documentElement.scrollHeight;
    return performance.now() - begin;
}"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[66, 1000], metavar="N", help="steps")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds (default: 5)")
    parser.add_argument("--browser", default=shutil.which("chromium"), metavar="PROGRAM")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep the repositories and pages here")
    options = parser.parse_args()
    if not options.browser:
        sys.exit("no chromium here; name one with --browser")
    with workplace(options.work) as place, browser(options.browser) as chromium:
        print(machine([Git("git", place)]) + f", Chromium {chromium.version}", end="\n\n", flush=True)
        rows = [measured(place, size, options.rounds, chromium) for size in options.sizes]
    head = (
        "steps",
        "KB",
        "gzip KB",
        "write s",
        "CPU s",
        "peak MB",
        "open s",
        "painted s",
        "unfolded s",
        "target",
    )
    print(table(head, rows))
    return 0


@contextmanager
def browser(program: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def measured(place: Path, size: int, rounds: int, chromium: Browser) -> Sequence[object]:
    """The row of one size."""
    repository, page = place / f"{size}", place / f"{size}.html"
    if not repository.exists():
        adopted_stack(repository, size)
        stackmerge(repository, "rebuild", "--onto", "newer")
        gated(repository, place / "gate.log")
    wrote = [written(repository, page) for _ in range(rounds)]
    opened = [seconds(chromium, page) for _ in range(rounds)]
    load, painted, unfolded = (statistics.median(times) for times in zip(*opened, strict=True))
    peak = max(ran.peak_mb for ran in wrote)
    sizes = page.stat().st_size, len(gzip.compress(page.read_bytes()))
    return (
        size,
        *(f"{count / 1000:.0f}" for count in sizes),
        f"{median_s(wrote):.2f}",
        f"{median_cpu(wrote):.2f}",
        f"{peak:.0f}",
        *(f"{time:.2f}" for time in (load, painted, unfolded)),
        target(max(load, painted), LIMIT_S, " s to open"),
    )


def gated(repository: Path, log: Path) -> None:
    """A passed gate for every step, as if each had run, with a log."""
    log.write_text("".join(f"tests/test_{n}.py::test_something PASSED\n" for n in range(LOG_LINES)))
    with Repository(repository) as opened:
        stack = open_stack(opened, repository / "stackmerge.yaml")
        run = stack.last_run()
        assert run is not None
        for record in run.steps:
            stack.journal.gate(
                GateResult(
                    gate="tests",
                    step=record.name,
                    tree=record.tree,
                    outcome=PASSED,
                    device="CPU",
                    counts={"tests": LOG_LINES},
                    elapsed_s=1.0,
                    key=record.tree,
                    log=str(log),
                    command=("make", "test"),
                )
            )


def written(repository: Path, page: Path) -> Ran:
    return stackmerge(repository, "report", "--out", str(page))


def seconds(chromium: Browser, page: Path) -> tuple[float, float, float]:
    """Until the page is loaded, until it shows something, and what unfolding all of it takes."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    tab.goto(page.as_uri())
    painted = tab.evaluate(PAINTED)
    times = tab.evaluate(LOADED), painted, tab.evaluate(UNFOLD)
    context.close()
    return times[0] / 1000, times[1] / 1000, times[2] / 1000


if __name__ == "__main__":
    sys.exit(main())
