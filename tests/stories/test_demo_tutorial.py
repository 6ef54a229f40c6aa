"""What ``make demo`` shows, and then every command of docs/tutorial.md, as written and in order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox import Ran, Sandbox
from tests.stories.conftest import DISK, DemoFork, needs_engine

pytestmark = needs_engine
TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
HANG = "TimeoutError: a fill waited on stream position 2, which never completed"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    root = tmp_path_factory.mktemp("ran")
    return root, Sandbox(root, "elsewhere").stackmerge("demo", "--run", str(root / "demo"))


def test_demo_run_rebuilds_twice_and_says_what_its_gates_proved(ran: tuple[Path, Ran]) -> None:
    root, shown = ran
    assert shown.code == 0, shown.err
    assert [line for line in shown.out.splitlines() if line.startswith("$ ")] == [
        "$ stackmerge rebuild --onto cac247a",
        "$ stackmerge rebuild --onto cc1f5c2",
        "$ stackmerge verify",
    ]
    assert f"cd {root}/demo/fork\n" in shown.out
    first, second = re.findall(r"^gate .*\n(?:gate .*\n)+", shown.err, re.MULTILINE)
    assert "gate no-graph-fence: passed on CPU, fake stream: ple-filler-67\n" in first
    assert re.search("^gate kernel: passed on .*: ple-hash-338$", first, re.MULTILINE)
    assert re.findall(r"\((\d) known\)$", second, re.MULTILINE) == ["1", "1"]
    on_cpu = "passed on CPU, Triton interpreter" in first
    assert ("not proven on a GPU: kernel" in shown.err) == on_cpu
    assert shown.err.count("proof holds: ") == 3


def commands() -> Iterator[tuple[str, int]]:
    """Each command after the set-up, with the exit code that its comment tells."""
    for block in re.findall(r"^```sh\n(.*?)^```", TUTORIAL.read_text(), re.MULTILINE | re.DOTALL)[1:]:
        for line in block.splitlines():
            code = re.search(r"# exit (\d)$", line)
            yield line, int(code[1]) if code else 0


def test_the_tutorial_works_as_written(ran: tuple[Path, Ran], tmp_path: Path) -> None:
    shutil.copytree(ran[0] / "demo", tmp_path / "demo", symlinks=True)
    demo = DemoFork(tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    said = {}
    for line, expected in commands():
        done = subprocess.run(
            ["bash", "-c", line], cwd=demo.path, env=demo.environment | {"PATH": path}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert (line, done.returncode) == (line, expected), done.stderr
        assert done.stdout or done.stderr or not line.startswith("stackmerge"), line
        said[done.returncode] = done.stderr
        if line.startswith("stackmerge continue") and not expected:
            assert "_graph_consumed" not in demo.show("5080deploy", DISK)
            assert "gate no-graph-fence: passed on CPU, fake stream: ple-filler-67" in done.stderr
        if "1080deploy.yaml" in line:
            assert re.search("^3 +double-buffer-588 +replayed", done.stderr, re.MULTILINE)
            assert "gate no-graph-fence: passed on CPU, fake stream: 2 steps" in done.stderr
    assert f"E   {HANG}" in [line.strip() for line in said[5].splitlines()]
