"""Fills in the right order, and what happens when a launch or a fill fails."""

from __future__ import annotations

import threading
import time

import pytest
import torch

from ple_engine.conformance.rig import Rig, make_rig
from ple_engine.conformance.targets import Target

pytestmark = pytest.mark.ple_device("CPU, fake stream")
STEPS = 12


class LaunchError(Exception):
    pass


def test_each_fill_waits_for_its_own_readback(target: Target) -> None:
    """Fills are as late as can be: a shared event has by then been recorded again, behind a waiting graph."""
    with make_rig(target, polite=True) as rig:
        rig.decode_overlapped(STEPS)
        assert rig.read == rig.expected(STEPS)


def test_launch_gating_fills_behind_the_sampling(target: Target) -> None:
    with make_rig(target, wait_sync=False) as rig:
        rig.decode_overlapped(STEPS)
        assert rig.read == rig.expected(STEPS)


def test_eager_staging_keeps_what_a_queued_copy_has_yet_to_read(target: Target) -> None:
    with make_rig(target) as rig:
        expected = [rig.eager_step(first) for first in (20, 30, 40, 50)]
        rig.stream.synchronize()
        assert [copy.view(torch.int64).tolist() for copy in rig.copied] == expected


def test_two_eager_batches_are_staged_without_waiting_for_a_copy(target: Target) -> None:
    with make_rig(target) as rig:
        rig.eager_step(20)
        rig.eager_step(30)
        assert rig.stream.done == 0, "the second batch was staged only after the first one's copy"


def test_a_failed_launch_leaves_no_flag_behind(target: Target) -> None:
    """Else the next graph passes its wait before its fill, and reads the failed step's rows."""
    with make_rig(target) as rig:

        def fail_after_the_fill() -> None:
            deadline = time.monotonic() + 1.0
            while int(rig.table._flag[0]) == 0 and time.monotonic() < deadline:
                rig.stream.wait(rig.stream.queued())
            raise LaunchError

        rig.decode_overlapped(2)
        with pytest.raises(LaunchError):
            rig.decode_step(fail_after_the_fill)
        assert_the_next_step_waits_for_its_fill(rig)


def test_a_launch_that_fails_during_its_fill_leaves_no_flag_behind(target: Target) -> None:
    with make_rig(target) as rig:

        def fail_during_the_fill() -> None:
            rig.stream.wait(rig.stream.queued())
            rig.store.flushing.wait(1.0)
            threading.Timer(0.3, rig.store.hold.set).start()
            raise LaunchError

        rig.decode_overlapped(2)
        rig.store.flushing.clear()
        rig.store.hold.clear()
        with pytest.raises(LaunchError):
            rig.decode_step(fail_during_the_fill)
        time.sleep(0.5)
        assert_the_next_step_waits_for_its_fill(rig)


def assert_the_next_step_waits_for_its_fill(rig: Rig) -> None:
    assert int(rig.table._flag[0]) == 0, "the failed step's fill left the flag set"
    rig.store.hold.clear()
    threading.Timer(0.5, rig.store.hold.set).start()
    launched = rig.decode_step()
    if not rig.store.hold.is_set():
        assert not rig.stream.wait(launched, timeout=0.1), "the graph ran before its fill"
    assert rig.stream.wait(launched)
    rig.decode_overlapped(2)
    assert rig.read == rig.expected(5)


def test_a_failed_fill_frees_the_stream_and_surfaces_at_the_next_step(target: Target) -> None:
    error = OSError("no such row today")
    with make_rig(target) as rig:
        rig.decode_overlapped(2)
        rig.store.fail = error
        with pytest.raises(OSError, match="no such row today") as caught:
            rig.decode_overlapped(2)
        assert caught.value is error
        assert rig.stream.wait(rig.stream.queued()), "the stream is stuck behind the failed fill"


def test_the_error_of_a_late_fill_is_not_lost(target: Target) -> None:
    """The fill fails only once the next one is submitted."""
    error = OSError("no such row today")
    with make_rig(target) as rig:
        rig.store.fail = error
        rig.store.hold.clear()
        threading.Timer(0.3, rig.store.hold.set).start()
        with pytest.raises(OSError, match="no such row today") as caught:
            decode_three(rig)
        assert caught.value is error


def decode_three(rig: Rig) -> None:
    rig.decode_step()
    assert rig.stream.wait(rig.decode_step()), "the stream is stuck behind the failed fill"
    rig.decode_step()


def test_close_ends_the_filler_thread(target: Target) -> None:
    before = set(threading.enumerate())
    with make_rig(target) as rig:
        rig.decode_overlapped(2)
        getattr(rig.table, "close", lambda: None)()
        left = {thread.name for thread in set(threading.enumerate()) - before} - {"fake-stream"}
        assert not left, f"still running after close: {left}"
