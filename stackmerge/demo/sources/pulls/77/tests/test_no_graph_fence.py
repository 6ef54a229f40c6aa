"""Overlapped decode must not hang: a fill that waits for its own launch waits for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

conformance = pytest.importorskip("ple_engine.conformance.__main__")


def test_no_graph_fence() -> None:
    tree = Path(__file__).parent.parent
    assert conformance.main(["--target", "freetoken", "--tree", str(tree), "--suite", "no-graph-fence"]) == 0
