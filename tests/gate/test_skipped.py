"""A gate whose tests did not run has not passed, whatever the exit status says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackmerge.gate import junit
from stackmerge.gate.execute import Ended
from stackmerge.gate.outcome import FAILED, NOT_RUN, PASSED
from stackmerge.gate.verdict import judge
from tests.gate.test_gating import outcomes, shell, stack
from tests.sandbox import Sandbox

SKIP = '<testcase name="a"><skipped message="torch sees no CUDA"/></testcase>'
GOOD = '<testcase name="b"/>'
BAD = '<testcase name="c"><failure message="1 != 2"/></testcase>'
BROKEN = '<testcase name="d"><error message="no fixture"/></testcase>'


@pytest.mark.parametrize(
    ("cases", "outcome", "reason"),
    [
        ((SKIP,), NOT_RUN, "all 1 tests were skipped: torch sees no CUDA"),
        ((SKIP, SKIP), NOT_RUN, "all 2 tests were skipped: torch sees no CUDA"),
        ((SKIP, GOOD), PASSED, ""),
        ((GOOD, BAD), FAILED, "exit status 0, but its report says: 1 passed, 1 failed"),
        ((BROKEN,), FAILED, "exit status 0, but its report says: 1 errors"),
        ((), PASSED, ""),
    ],
)
def test_an_exit_status_of_0_is_a_pass_only_where_the_report_agrees(
    tmp_path: Path, cases: tuple[str, ...], outcome: str, reason: str
) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    assert judge(Ended(0), 60.0, junit.read(report)) == (outcome, reason)


def test_a_gate_whose_every_test_was_skipped_is_not_run_and_no_pass_is_kept(fork: Sandbox) -> None:
    test = "import pytest\n@pytest.mark.skip(reason='torch sees no CUDA')\ndef test_kernel(): assert 0\n"
    command = ["{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={junit}", "t.py"]
    stack(fork, [{"name": "kernel", "run": command, "requires": {"gpu": "preferred"}}], ("one",))
    fork.git("checkout", "-q", "one")
    fork.commit({"t.py": test}, "test")
    fork.git("checkout", "-q", "main")
    for _ in range(2):
        ran = fork.stackmerge("rebuild", "--fresh", "--json")
        said = "not run (all 1 tests were skipped: torch sees no CUDA)"
        assert outcomes(ran.json) == [("one", said, False)]
        assert (ran.json["proven_on_gpu"], ran.json["gates"][0]["on_gpu"]) == (False, False)


@pytest.mark.parametrize("encoding", ["foo-9", "utf-7", "base64"])
def test_a_report_in_an_encoding_that_nobody_knows_is_no_report(fork: Sandbox, encoding: str) -> None:
    report = f'<?xml version="1.0" encoding="{encoding}"?><testsuite/>'
    write = ["sh", "-c", f"printf '%s' '{report}' > $1", "x", "{junit}"]
    stack(fork, [{"name": "unit", "run": write}], ("one",))
    ran = fork.stackmerge("rebuild", "--json")
    assert outcomes(ran.json) == [("one", "passed on CPU", False)]


NEEDS_SWITCH = {"name": "gpu", "run": "false", "requires": {"env": ["SWITCH"]}}


def test_a_gate_that_does_not_run_cannot_be_bisected(fork: Sandbox) -> None:
    stack(fork, [NEEDS_SWITCH])
    assert fork.stackmerge("rebuild").code == 0
    for options in ((), ("--json",)):
        ran = fork.stackmerge("bisect", "gpu", *options)
        assert ran.code == 1
        why = "on three it was not run (the environment variable SWITCH is not set)"
        assert ran.err.startswith(f"error: the gate gpu cannot be bisected: {why}\n")
        assert not ran.out or ran.json["status"] == "error"


def test_a_step_that_a_gate_does_not_run_on_is_not_good(fork: Sandbox) -> None:
    """Bad from ``one`` on; on ``two`` its tests are skipped, so its first bad step is not ``three``."""
    report = f"if test -f three.txt; then exit 1; fi; test ! -f two.txt || printf '<t>%s</t>' '{SKIP}' > $0"
    gate = {"name": "tests", "run": ["sh", "-c", report, "{junit}"]}
    stack(fork, [gate], ("one", "two", "three"))
    ran = fork.stackmerge("rebuild", "--gates", "tip", "--json")
    assert ran.code == 5
    assert outcomes(ran.json) == [
        ("two", "not run (all 1 tests were skipped: torch sees no CUDA)", False),
        ("three", "failed (exit status 1)", False),
    ]
    bisected = fork.stackmerge("bisect", "tests")
    assert bisected.code == 1
    assert "cannot be bisected: on two it was not run (all 1 tests were skipped" in bisected.err


def test_a_time_limit_that_was_raised_counts_at_once(fork: Sandbox) -> None:
    slow = {"name": "slow", "run": shell("sleep 1.5"), "timeout": "1s"}
    stack(fork, [slow], ("one",))
    assert fork.stackmerge("rebuild").code == 5
    manifest = fork.path / "stackmerge.yaml"
    manifest.write_text(manifest.read_text().replace(json.dumps("1s"), json.dumps("1min")))
    assert fork.stackmerge("bisect", "slow", "--json").json == {"step": None, "runs": 1}
