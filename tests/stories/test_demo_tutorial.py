"""Every command of docs/tutorial.md, as written and in order, ends as the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.stories.conftest import DemoFork, needs_engine

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"


def commands() -> Iterator[tuple[str, int]]:
    """Each command after the set-up, with the exit code that its comment tells."""
    for block in re.findall(r"^```sh\n(.*?)^```", TUTORIAL.read_text(), re.MULTILINE | re.DOTALL)[1:]:
        for line in block.splitlines():
            code = re.search(r"# exit (\d)$", line)
            yield line, int(code[1]) if code else 0


@needs_engine
def test_the_tutorial_works_as_written(demo: DemoFork) -> None:
    for base in ("cac247a", "cc1f5c2"):
        assert demo.stackmerge("rebuild", "--onto", base).code == 0
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line, expected in commands():
        done = subprocess.run(
            ["bash", "-c", line], cwd=demo.path, env=demo.environment | {"PATH": path}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert (line, done.returncode) == (line, expected), done.stderr
        assert done.stdout or done.stderr or line.startswith(("cp ", "git ")), line
