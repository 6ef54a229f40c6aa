"""What the demo says to a newcomer: where everything is, and what to do next."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from stackmerge.demo.build import Demo

NO_ENGINE = "torch is not installed here, so the gates are off; `pip install 'stackmerge[engine]'` brings it"


def has_engine() -> bool:
    """Can the gates run here? Nothing is imported to find out."""
    return all(find_spec(name) for name in ("torch", "triton", "ple_engine"))


def made(demo: Demo) -> Iterator[str]:
    """Where everything is."""
    yield f"{demo.upstream}    upstream: the tags e0886cc, cac247a, cc1f5c2 and d3512b4, and open pull requests"
    yield f"{demo.fork}            its fork: the stacks 5080deploy (on e0886cc) and 1080deploy (on cc1f5c2)"
    yield f"{demo.resolutions}     two answers to the conflict that d3512b4 brings, one of them wrong"


def next_steps(demo: Demo, *, ran: bool) -> Iterator[str]:
    """What to type."""
    yield ""
    yield "What to try next (docs/tutorial.md says more):"
    yield ""
    if shutil.which("stackmerge") is None:
        yield f"    export PATH={Path(sys.executable).parent}:$PATH"
    yield f"    cd {demo.fork}"
    if not ran:
        yield "    stackmerge rebuild --onto cac247a    # every recorded resolution replays"
        yield "    stackmerge rebuild --onto cc1f5c2    # one pull request has landed there, and is left out"
    yield "    stackmerge rerere list               # the resolutions, and where each comes from"
    yield "    stackmerge rebuild --onto d3512b4    # a conflict that nobody has answered yet: exit 3"
    yield "    stackmerge status                    # and where it waits for you"
