"""A graph fill must not wait for an event recorded after its own launch.

The fill runs on its own thread, before its graph can pass the flag. Were the graph staging fenced by an event
that is recorded behind each launch, a fill would wait for a graph that waits for that fill. The readback,
recorded behind the previous graph, already keeps the staging safe.
"""

from __future__ import annotations

import pytest

from ple_engine.conformance.rig import make_rig
from ple_engine.conformance.targets import Target

pytestmark = pytest.mark.ple_device("CPU, fake stream")
STEPS = 12


def test_overlapped_graph_fills_never_wait_on_their_own_launch(target: Target) -> None:
    with make_rig(target, prompt=True) as rig:
        rig.decode_overlapped(STEPS)
        assert rig.read == rig.expected(STEPS)
