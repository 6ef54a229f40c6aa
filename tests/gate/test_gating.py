"""Gates on real rebuilds: what runs, what is reused, what stops, and what a gate cannot break."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox import Sandbox

STEPS = ("one", "two", "three")


def stack(fork: Sandbox, gates: list[dict[str, Any]], steps: tuple[str, ...] = STEPS) -> None:
    """A stack of clean merges, each adding ``<name>.txt``, and its gates."""
    fork.commit({"base.txt": "base\n", "docs/readme": "v1\n"}, "base")
    fork.git("tag", "v1")
    for name in steps:
        fork.branch(name, "v1", {f"{name}.txt": f"{name}\n"}, name)
    fork.commit({"docs/readme": "v2\n"}, "docs only")
    fork.git("tag", "v2")
    write_manifest(fork, gates, steps)


def write_manifest(fork: Sandbox, gates: list[dict[str, Any]], steps: tuple[str, ...] = STEPS) -> None:
    made = {
        "stack": "deploy",
        "base": "v1",
        "steps": [{"name": name, "merge": name} for name in steps],
        "gates": gates,
    }
    fork.manifest(json.dumps(made, indent=1))


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def outcomes(found: Any) -> list[tuple[str, str, bool]]:
    return [(gate["step"], gate["words"], gate["cached"]) for gate in found["gates"]]


def test_each_step_is_gated_and_the_result_says_on_what(fork: Sandbox) -> None:
    stack(fork, [{"name": "files", "run": shell("test -f one.txt && test ! -f base.missing")}])
    ran = fork.stackmerge("rebuild", "--json")
    assert ran.code == 0, ran.err
    assert outcomes(ran.json) == [(name, "passed on CPU", False) for name in STEPS]


def test_a_base_that_touches_no_input_reruns_nothing(fork: Sandbox, tmp_path: Path) -> None:
    count = tmp_path / "runs"
    stack(fork, [{"name": "files", "run": shell(f"echo run >> {count}; ls *.txt"), "inputs": ["*.txt"]}])
    assert fork.stackmerge("rebuild").code == 0
    assert count.read_text().count("run") == 3
    ran = fork.stackmerge("rebuild", "--onto", "v2", "--json")
    assert ran.code == 0, ran.err
    assert outcomes(ran.json) == [(name, "passed on CPU", True) for name in STEPS]
    assert count.read_text().count("run") == 3


def test_a_failing_gate_stops_with_its_log_and_a_reason_goes_on(fork: Sandbox) -> None:
    stack(
        fork,
        [
            {
                "name": "no-two",
                "run": shell("echo looking; if test -f two.txt; then echo found two; exit 7; fi"),
            }
        ],
    )
    ran = fork.stackmerge("rebuild", "--json")
    assert ran.code == 5
    assert ran.json["status"] == "gate"
    assert outcomes(ran.json) == [("one", "passed on CPU", False), ("two", "failed (exit status 7)", False)]
    assert "stopped at two: the gate no-two failed" in ran.err
    assert "    found two" in ran.err
    assert fork.git("branch", "--list", "deploy") == ""

    again = fork.stackmerge("continue", "--json")
    assert again.code == 5
    taken = fork.stackmerge("continue", "--accept-failure", "two is known", "--json")
    assert taken.code == 5  # step three has two.txt as well, and nobody accepted that
    taken = fork.stackmerge("continue", "--accept-failure", "two is known", "--json")
    assert taken.code == 0, taken.err
    assert outcomes(taken.json)[1:] == [
        ("two", "failed (exit status 7), accepted: two is known", False),
        ("three", "failed (exit status 7), accepted: two is known", False),
    ]


def test_tip_first_walks_back_to_the_first_bad_step(fork: Sandbox) -> None:
    stack(fork, [{"name": "no-two", "run": shell("test ! -f two.txt")}])
    ran = fork.stackmerge("rebuild", "--gates", "tip", "--json")
    assert ran.code == 5
    assert outcomes(ran.json) == [("two", "failed (exit status 1)", False)]
    tip = fork.stackmerge("continue", "--accept-failure", "two is known", "--json")
    assert tip.code == 5  # nobody accepted that the tip fails, too
    assert outcomes(tip.json) == [
        ("two", "failed (exit status 1), accepted: two is known", False),
        ("three", "failed (exit status 1)", False),
    ]
    taken = fork.stackmerge("continue", "--accept-failure", "known", "--json")
    assert taken.code == 0, taken.err
    assert [words for _, words, _ in outcomes(taken.json)] == [
        "failed (exit status 1), accepted: two is known", "failed (exit status 1), accepted: known"
    ]  # fmt: skip
    off = fork.stackmerge("rebuild", "--gates", "off", "--json")
    assert off.code == 0
    assert off.json["gates"] == []


def test_gates_are_chosen_by_step_and_by_path(fork: Sandbox) -> None:
    gates = [
        {"name": "for-two", "run": "true", "on": {"steps": ["two"]}},
        {"name": "for-three", "run": "true", "on": {"paths": ["three.*"]}},
    ]
    stack(fork, gates)
    ran = fork.stackmerge("rebuild", "--json")
    assert [(g["gate"], g["step"]) for g in ran.json["gates"]] == [("for-two", "two"), ("for-three", "three")]


def test_a_gate_that_requires_a_gpu_is_never_satisfied_by_a_cpu(fork: Sandbox) -> None:
    fork.environment["CUDA_VISIBLE_DEVICES"] = ""
    gates = [
        {"name": "must", "run": "true", "requires": {"gpu": "required"}},
        {"name": "may", "run": "true", "requires": {"gpu": "preferred"}},
    ]
    stack(fork, gates, ("one",))
    ran = fork.stackmerge("rebuild", "--json")
    assert ran.code == 0, ran.err
    assert outcomes(ran.json) == [
        ("one", "not run (it requires a GPU, and there is none)", False),
        ("one", "passed on CPU", False),
    ]
    assert not ran.json["proven_on_gpu"]
    assert "not proven on a GPU: may, must" in ran.err
    assert fork.stackmerge("rebuild", "--require-gpu").code == 5


def test_missing_programs_and_variables_are_named(fork: Sandbox) -> None:
    gates = [
        {"name": "a", "run": "true", "requires": {"programs": ["no-such-program"]}},
        {"name": "b", "run": "true", "requires": {"env": ["NO_SUCH_VARIABLE"]}},
    ]
    stack(fork, gates, ("one",))
    ran = fork.stackmerge("rebuild", "--json")
    assert ran.code == 0, ran.err
    assert [gate["words"] for gate in ran.json["gates"]] == [
        "not run (the program no-such-program is not installed)",
        "not run (the environment variable NO_SUCH_VARIABLE is not set)",
    ]


def test_a_program_that_nobody_said_may_be_missing_fails(fork: Sandbox) -> None:
    stack(fork, [{"name": "a", "run": "pytset -q"}], ("one",))
    ran = fork.stackmerge("rebuild", "--json")
    assert ran.code == 5
    assert outcomes(ran.json) == [("one", "failed (pytset: No such file or directory)", False)]


def test_a_command_before_that_fails_is_a_failure(fork: Sandbox) -> None:
    stack(fork, [{"name": "a", "run": "true", "before": ["sh -c 'echo no server; exit 3'"]}], ("one",))
    ran = fork.stackmerge("rebuild", "--json")
    assert ran.code == 5
    assert outcomes(ran.json) == [("one", "failed (`before` failed: exit status 3)", False)]
    assert "no server" in ran.err


def test_an_order_of_gating_that_there_is_not_is_refused_before_anything_is_merged(fork: Sandbox) -> None:
    stack(fork, [{"name": "a", "run": "true"}], ("one",))
    ran = fork.stackmerge("rebuild", "--gates", "fast")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: --gates: 'fast' is not one of step, tip, off")
    assert fork.stackmerge("status", "--json").json["status"] == "none"


def test_counts_and_the_device_come_from_the_junit_report(fork: Sandbox) -> None:
    report = (
        '<testsuites><testsuite><testcase name="a"><properties><property name="device" value="CPU, interpreter"/>'
        '</properties></testcase><testcase name="b"><skipped/></testcase></testsuite></testsuites>'
    )
    stack(
        fork, [{"name": "unit", "run": ["sh", "-c", f"printf '%s' '{report}' > \"$0\"", "{junit}"]}], ("one",)
    )
    gate = fork.stackmerge("rebuild", "--json").json["gates"][0]
    assert gate["words"] == "passed on CPU, interpreter"
    assert gate["counts"] == {"tests": 2, "failures": 0, "errors": 0, "skipped": 1}


def test_a_gate_sees_no_token_and_no_git_variable(fork: Sandbox) -> None:
    secrets = {
        "GITHUB_TOKEN": "s3cret",
        "MY_API_KEY": "s3cret",
        "GIT_ASKPASS": "/bin/s3cret",
        "DB_PASSWORD": "s3cret",
    }
    fork.environment |= secrets
    stack(fork, [{"name": "env", "run": shell("! env | grep -e s3cret -e '^GIT_'")}], ("one",))
    ran = fork.stackmerge("rebuild", "--json")
    assert ran.code == 0, ran.err


def test_git_in_a_checkout_shows_the_step_and_cannot_reach_the_repository(fork: Sandbox) -> None:
    script = "git log -1 --format=%s && git status --porcelain && git branch evil && git tag evil && git config a.b c"
    stack(fork, [{"name": "git", "run": shell(script)}], ("one",))
    ran = fork.stackmerge("rebuild", "--json")
    assert ran.code == 0, ran.err
    assert Path(ran.json["gates"][0]["log"]).read_text() == "Merge one\n"
    assert fork.git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags").split() == [
        "refs/heads/deploy", "refs/heads/main", "refs/heads/one", "refs/tags/v1", "refs/tags/v2",
    ]  # fmt: skip
    assert fork.git("config", "--get", "a.b", check=False) == ""


HOSTILE = {
    "writes to its checkout": "echo x > base.txt; echo y > new.txt; mkdir -p d/.git; chmod 0 d; rm docs/readme",
    "deletes the checkout": 'd=$(pwd); cd /; rm -rf "$d"',
    "replaces the checkout by a link": 'd=$(pwd); cd /; rm -rf "$d"; ln -s /tmp "$d"',
    "prints 100 MB": "head -c 100000000 /dev/zero | tr '\\0' 'x'; echo; echo the end",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_gate_leaves_the_next_step_unharmed(fork: Sandbox, what: str) -> None:
    hostile = {"name": "hostile", "run": shell(HOSTILE[what])}
    look = shell('test $(cat base.txt) = base && test -f docs/readme && test -z "$(git status --porcelain)"')
    stack(fork, [hostile, {"name": "look", "run": look}])
    before = fork.git("rev-parse", "main"), fork.git("status", "--porcelain")
    ran = fork.stackmerge("rebuild", "--json")
    assert ran.code == 0, ran.err
    assert [words for _, words, _ in outcomes(ran.json)] == ["passed on CPU"] * 6
    assert (fork.git("rev-parse", "main"), fork.git("status", "--porcelain", "stackmerge.yaml")) == (
        before[0],
        before[1],
    )
    log = Path(ran.json["gates"][0]["log"])
    assert log.stat().st_size < 5_000_000
    if what == "prints 100 MB":
        assert log.read_text().endswith("the end\n")


def test_daemons_die_with_their_gate(fork: Sandbox, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    daemon = f"setsid sh -c 'echo $$ > {pid_file}; exec sleep 600' >/dev/null 2>&1 &"
    script = f"({daemon}); while ! test -s {pid_file}; do sleep 0.01; done"
    stack(fork, [{"name": "daemon", "run": shell(script)}], ("one",))
    assert fork.stackmerge("rebuild").code == 0
    assert not Path(f"/proc/{pid_file.read_text().strip()}").exists()


def test_a_gate_that_ignores_sigterm_is_stopped_at_its_limit(fork: Sandbox) -> None:
    script = "trap '' TERM; echo waiting; while true; do sleep 0.1; done"
    stack(fork, [{"name": "deaf", "run": shell(script), "timeout": "1 s"}], ("one",))
    started = time.monotonic()
    ran = fork.stackmerge("rebuild", "--json")
    assert ran.code == 5
    assert outcomes(ran.json) == [("one", "timed out (after 1 s)", False)]
    assert time.monotonic() - started < 60


def test_after_runs_whatever_happened(fork: Sandbox, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    gate = {
        "name": "served",
        "before": [shell(f"echo before >> {trace}")],
        "run": shell(f"echo run >> {trace}; exit 1"),
        "after": [shell(f"echo after >> {trace}")],
    }
    stack(fork, [gate], ("one",))
    assert fork.stackmerge("rebuild").code == 5
    assert trace.read_text().split() == ["before", "run", "after"]


def test_killed_in_a_gate_continue_runs_that_gate_only(fork: Sandbox, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    block = tmp_path / "block"
    block.touch()
    script = (
        f"echo run >> {runs}; if test -f three.txt -a -f {block}; then touch {tmp_path}/inside; sleep 600; fi"
    )
    stack(fork, [{"name": "slow", "run": shell(script)}])
    command = [sys.executable, "-m", "stackmerge", "rebuild"]
    child = subprocess.Popen(command, cwd=fork.path, env=fork.environment, stderr=subprocess.DEVNULL)
    while not (tmp_path / "inside").exists():
        assert child.poll() is None
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert len(runs.read_text().splitlines()) == 3
    block.unlink()
    ran = fork.stackmerge("continue", "--json")
    assert ran.code == 0, ran.err
    assert len(runs.read_text().splitlines()) == 4
    assert [cached for _, _, cached in outcomes(ran.json)] == [True, True, False]


def test_bisect_finds_one_bad_step_of_64_in_at_most_7_runs(fork: Sandbox, tmp_path: Path) -> None:
    steps = tuple(f"s{i:02d}" for i in range(64))
    runs = tmp_path / "runs"
    stack(fork, [{"name": "no-41", "run": shell(f"echo run >> {runs}; test ! -f s41.txt")}], steps)
    assert fork.stackmerge("rebuild", "--gates", "off").code == 0
    ran = fork.stackmerge("bisect", "no-41", "--json")
    assert ran.code == 0, ran.err
    assert ran.json == {"step": "s41", "runs": 7}
    assert runs.read_text().count("run") <= 7


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ({"run": "true"}, "the key `name` is missing"),
        ({"name": "a b", "run": "true"}, "'a b' is not a gate's name"),
        ({"name": "a", "run": "echo 'x"}, "is not a command: No closing quotation"),
        ({"name": "a", "run": ["echo", "a\0b"]}, "has a zero byte"),
        ({"name": "a", "run": "true", "timeout": "soon"}, "'soon' is not an amount"),
        ({"name": "a", "run": "true", "requires": {"gpu": "yes"}}, "must be one of required, preferred"),
        ({"name": "a", "run": "true", "requires": {"vram_free": "9"}}, "'9' is not an amount"),
    ],
)
def test_a_wrong_gate_is_named_with_its_line(fork: Sandbox, gate: dict[str, Any], said: str) -> None:
    stack(fork, [gate])
    ran = fork.stackmerge("rebuild")
    assert ran.code == 2
    assert said in ran.err
    assert "stackmerge.yaml:" in ran.err


def test_what_a_person_mends_in_a_failing_step_is_recorded_and_replays(fork: Sandbox) -> None:
    stack(fork, [{"name": "no-two", "run": shell("test ! -f two.txt || grep -q mended two.txt")}])
    stopped = fork.stackmerge("rebuild", "--json")
    assert stopped.code == 5
    tree = Path(stopped.json["worktree"])
    assert (tree / "two.txt").read_text() == "two\n"
    (tree / "two.txt").write_text("mended\n")
    unstaged = fork.stackmerge("continue")
    assert unstaged.code == 1
    assert "changed but not staged: two.txt" in unstaged.err
    fork.git("add", "-A", cwd=tree)
    again = fork.stackmerge("continue", "--json")
    assert again.code == 0, again.err
    assert [step["outcome"] for step in again.json["steps"]] == ["clean", "fixup", "clean"]
    assert fork.show("deploy", "two.txt") == "mended"
    assert not tree.exists()
    moved = fork.stackmerge("rebuild", "--onto", "v2", "--json")
    assert moved.code == 0, moved.err
    assert fork.show("deploy", "two.txt") == "mended"


def test_a_gate_for_a_rule_that_is_none_is_an_error(fork: Sandbox) -> None:
    stack(fork, [{"name": "one", "run": shell("true"), "on": {"hazards": ["ple-graph-fense"]}}], ("one",))
    refused = fork.stackmerge("rebuild")
    assert refused.code == 2
    assert refused.err == (
        "error: the gate 'one': `on.hazards` names 'ple-graph-fense', which is no rule\n"
        "hint: see `stackmerge hazards list`\n"
    )
