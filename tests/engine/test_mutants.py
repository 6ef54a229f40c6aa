"""Every fault that the suites are there for makes them fail."""

from __future__ import annotations

from pathlib import Path

import mutants
import pytest
import torch
from mutants import Mutant, mutate
from run_conformance import run_conformance

pytestmark = pytest.mark.timeout(600)
STUCK = "TimeoutError: a fill waited on stream position"

KILLED = [
    (mutants.FENCE, "no-graph-fence", "", f"{STUCK} 2, which never completed"),
    (mutants.SHARED_READBACK, "fill-order", "own_readback", f"{STUCK} 1, which never completed"),
    (
        mutants.ONE_EAGER_BUFFER,
        "fill-order",
        "eager",
        "test_eager_staging_keeps_what_a_queued_copy_has_yet_to_read",
    ),
    (mutants.ONE_FENCED_EAGER_BUFFER, "fill-order", "eager", "the second batch was staged only after"),
    (mutants.FLAG_LEFT_SET, "fill-order", "flag", "the failed step's fill left the flag set"),
    (mutants.CANCEL_WITHOUT_WAITING, "fill-order", "flag", "the failed step's fill left the flag set"),
    # A context that is read late is wrong rows or none at all, as the job happens to run.
    (mutants.LATE_CONTEXT, "fill-order", "own_readback", "test_each_fill_waits_for_its_own_readback"),
    (
        mutants.STUCK_AFTER_FAILED_FILL,
        "fill-order",
        "late_fill",
        "the stream is stuck behind the failed fill",
    ),
    (mutants.LOST_ERROR, "fill-order", "late_fill", "DID NOT RAISE"),
    (mutants.OUT_UNCHECKED, "kernel", "Wrong and out", "DID NOT RAISE"),
    (mutants.EXTRA_CAST, "kernel", "one_launch", "AssertionError: ['"),
    (mutants.REMEMBERED_STARTS, "kernel", "other_starts", "test_other_starts_in_a_batch_of_the_same_shape"),
]


@pytest.mark.parametrize(("mutant", "suite", "only", "reason"), KILLED, ids=[row[0].name for row in KILLED])
def test_a_mutant_is_killed(tmp_path: Path, mutant: Mutant, suite: str, only: str, reason: str) -> None:
    tree = mutate(mutant, tmp_path)
    result = run_conformance("--suite", suite, "-k", only, "-x", first=tree)
    assert result.returncode == 1, result.stdout + result.stderr
    assert reason in result.stdout


@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="a captured address needs CUDA graphs, and so a GPU"
)
def test_what_a_graph_captured_is_not_evicted(tmp_path: Path) -> None:
    tree = mutate(mutants.EVICTED_STARTS, tmp_path)
    result = run_conformance("--suite", "kernel", "-k", "graph_replays and prefill", first=tree)
    assert result.returncode == 1, result.stdout + result.stderr
