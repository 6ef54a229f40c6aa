"""Prints in how many of 100 rebuilds, each killed at another moment, `continue` ends in the same commits.

    python bench/kill.py [--times N] [--seed N] [--git PROGRAM]

A stack of 30 steps is generated, of which nine replay a recorded answer. It is rebuilt once undisturbed, which
gives the expected branches and lock and the time T. Then, N times, a fresh copy is rebuilt and killed with
SIGKILL, together with every git that it started, after a random time of up to 1.1 T; then `continue` (or
`rebuild`, where the journal had not begun) must end with the same branches, the same lock and an intact
repository. Prints one line for each that does not, then `N of N`; the exit status is 0 when all do.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import chain
from tests.sandbox import Sandbox


def trouble(stack: Sandbox, root: Path, delay: float, expected: chain.State) -> str:
    """Kill one rebuild and go on; what went wrong, or nothing."""
    copy = chain.copied(stack, root)
    try:
        chain.killed(copy, delay)
        said = chain.go_on(copy)
        if said:
            return said.splitlines()[0]
        if chain.state(copy) != expected:
            return "other branches, or another lock"
        return copy.git("fsck", "--no-dangling", "--connectivity-only", check=False)
    finally:
        shutil.rmtree(root)


def measured(root: Path, times: int, seed: int) -> int:
    """Kill ``times`` rebuilds; how many ended as they should."""
    stack = Sandbox(root)
    chain.generate(stack)
    first = chain.copied(stack, root / "undisturbed")
    began = time.monotonic()
    ran = first.stackmerge("rebuild", "--onto", "v2", "--fresh")
    took = time.monotonic() - began
    assert ran.code == 0, ran.err
    moments = random.Random(seed)
    good = 0
    for number in range(times):
        delay = moments.uniform(0, 1.1 * took)
        found = trouble(stack, root / str(number), delay, chain.state(first))
        good += not found
        if found:
            print(f"killed after {delay:.3f} of {took:.3f} s: {found}", flush=True)
    return good


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=100, help="how many rebuilds to kill")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--git", default="git", help="the git that rebuilds")
    options = parser.parse_args()
    os.environ["STACKMERGE_GIT"] = options.git
    with tempfile.TemporaryDirectory(prefix="stackmerge-kill-") as name:
        good = measured(Path(name), options.times, options.seed)
    print(f"{good} of {options.times}")
    sys.exit(0 if good == options.times else 1)


if __name__ == "__main__":
    main()
