"""What ``make demo`` shows; tests/docs goes on from there with the tutorial."""

from __future__ import annotations

import re
from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.conftest import needs_engine

pytestmark = needs_engine


def test_demo_run_rebuilds_twice_and_says_what_its_gates_proved(tmp_path: Path) -> None:
    shown = Sandbox(tmp_path, "elsewhere").stackmerge("demo", "--run", str(tmp_path / "demo"))
    assert shown.code == 0, shown.err
    assert [line for line in shown.out.splitlines() if line.startswith("$ ")] == [
        "$ stackmerge rebuild --onto cac247a",
        "$ stackmerge rebuild --onto cc1f5c2",
        "$ stackmerge verify",
    ]
    assert f"cd {tmp_path}/demo/fork\n" in shown.out
    first, second = re.findall(r"^gate .*\n(?:gate .*\n)+", shown.err, re.MULTILINE)
    assert "gate no-graph-fence: passed on CPU, fake stream: ple-filler-67\n" in first
    assert re.search("^gate kernel: passed on .*: ple-hash-338$", first, re.MULTILINE)
    assert re.findall(r"\((\d) known\)$", second, re.MULTILINE) == ["1", "1"]
    on_cpu = "passed on CPU, Triton interpreter" in first
    assert ("not proven on a GPU: kernel" in shown.err) == on_cpu
    assert shown.err.count("proof holds: ") == 3
