"""Hazards in a rebuild: what blocks stops it, what a person answers goes on, and the answer is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hazards.fence import DISK, FIXTURE
from tests.sandbox import Sandbox

FENCE = "ple-graph-fence"
GATES = 'gates: [{name: no-graph-fence, run: "true"}]\n'
STEP = "- name: {name}\n  merge: {name}\n"
UTIL = "".join(f"LINE_{n} = {n}\n" for n in range(20))
ADDED = "def clamp(value):\n    return value\n"


class Fork(Sandbox):
    """A fork whose one step, or whose second, meets the fence."""

    def stack(self, base: str, *steps: str, extra: str = "", gates: str = GATES) -> None:
        text = f"stack: deploy\nbase: {base}\nsteps:\n" + "".join(STEP.format(name=name) for name in steps)
        self.manifest(text + extra + gates)

    @property
    def tree(self) -> Path:
        return self.path / ".git" / "stackmerge" / "deploy" / "worktree"

    def answer(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.tree / name).write_text(text)
        self.git("add", "-A", cwd=self.tree)


@pytest.fixture
def fork(tmp_path: Path) -> Fork:
    made = Fork(tmp_path)
    made.commit({DISK: FIXTURE["base"], "util.py": UTIL}, "base")
    made.git("tag", "v1")
    made.branch("filler", "v1", {DISK: FIXTURE["ours"]}, "the filler")
    made.branch("fence", "v1", {DISK: FIXTURE["theirs"]}, "the fence")
    made.git("tag", "v2", "fence")
    made.branch("first", "v1", {"util.py": ADDED + UTIL}, "clamp at the top")
    made.branch("second", "v1", {"util.py": UTIL + ADDED}, "clamp at the bottom")
    return made


ORIENTATIONS = pytest.mark.parametrize(
    ("base", "steps"),
    [("v2", ("filler",)), ("v1", ("filler", "fence"))],
    ids=["the filler onto the fence", "the fence onto the filler"],
)


@ORIENTATIONS
def test_the_wrong_answer_is_blocked_and_the_edits_make_the_right_one(
    fork: Fork, base: str, steps: tuple[str, ...]
) -> None:
    fork.stack(base, *steps)
    stopped = fork.stackmerge("rebuild", "--json")
    assert stopped.code == 3
    (warning,) = stopped.json["steps"][-1]["hazards"]
    assert (warning["rule"], warning["severity"]) == (FENCE, "warn")
    assert f"warning: {FENCE}" in stopped.err

    fork.answer({DISK: FIXTURE["bad"]})
    blocked = fork.stackmerge("continue", "--json")
    assert (blocked.code, blocked.json["status"]) == (4, "hazard")
    (finding,) = blocked.json["steps"][-1]["hazards"]
    assert (finding["rule"], finding["severity"], finding["gates"]) == (FENCE, "block", ["no-graph-fence"])
    assert "_graph_consumed.synchronize()" in blocked.err
    assert "delete self._graph_consumed" in blocked.err
    assert fork.stackmerge("rerere", "list", "--json").json["resolutions"] == []
    assert fork.stackmerge("continue").code == 4

    done = fork.stackmerge("continue", "--apply-hazard-edits", "--json")
    assert done.code == 0, done.err
    assert fork.show("deploy", DISK) + "\n" == FIXTURE["good"]
    (recorded,) = fork.stackmerge("rerere", "list", "--json").json["resolutions"]
    assert (recorded["kind"], recorded["path"], recorded["source"]) in (
        ("text", DISK, "hazard"), ("text", DISK, "hand"),
    )  # fmt: skip

    again = fork.stackmerge("rebuild", "--fresh", "--json")
    assert again.code == 0, again.err
    assert (again.json["tip"], again.json["steps"][-1]["outcome"]) == (done.json["tip"], "replayed")


@ORIENTATIONS
def test_the_right_answer_is_silent(fork: Fork, base: str, steps: tuple[str, ...]) -> None:
    fork.stack(base, *steps)
    assert fork.stackmerge("rebuild").code == 3
    fork.answer({DISK: FIXTURE["good"]})
    done = fork.stackmerge("continue", "--json")
    assert done.code == 0, done.err
    assert done.json["steps"][-1]["hazards"] == []


@pytest.mark.parametrize("gates", ["", 'gates: [{name: other, run: "true"}]\n'], ids=["no gates", "another gate"])
@pytest.mark.parametrize("order", ["step", "tip"])
def test_a_gate_that_a_rule_asks_for_must_be_defined(fork: Fork, gates: str, order: str) -> None:
    fork.stack("v1", "filler", "fence", "first", gates=gates)
    assert fork.stackmerge("rebuild", "--gates", order).code == 3
    fork.answer({DISK: FIXTURE["good"]})
    undefined = fork.stackmerge("continue")
    assert undefined.code == 1
    assert "asks for the gate 'no-graph-fence' on fence, which is not defined\n" in undefined.err
    assert fork.git("branch", "--list", "deploy") == ""
    fork.stack("v1", "filler", "fence", "first")
    done = fork.stackmerge("continue")
    assert done.code == 0, done.err


def test_the_plan_warns_and_changes_nothing(fork: Fork) -> None:
    fork.stack("v2", "filler")
    refs = fork.git("for-each-ref")
    planned = fork.stackmerge("plan", "--json")
    assert planned.code == 0
    (warning,) = planned.json["steps"][0]["hazards"]
    assert (warning["rule"], warning["severity"]) == (FENCE, "warn")
    assert fork.git("for-each-ref") == refs


@pytest.mark.parametrize("comment", [False, True])
def test_a_person_may_allow_it_with_a_reason_which_is_recorded(fork: Fork, comment: bool) -> None:
    allow = (
        f"  # stackmerge: allow {FENCE} ours waits\n"
        if comment
        else f"  allow: {{rule: {FENCE}, reason: ours waits}}\n"
    )
    fork.stack("v2", "filler")
    assert fork.stackmerge("rebuild").code == 3
    fork.answer({DISK: FIXTURE["bad"]})
    assert fork.stackmerge("continue").code == 4
    fork.stack("v2", "filler", extra=allow)
    done = fork.stackmerge("continue", "--json")
    assert done.code == 0, done.err
    (finding,) = done.json["steps"][0]["hazards"]
    assert (finding["disposition"], finding["reason"]) == ("allowed", "ours waits")

    fork.stack("v2", "filler")
    blocked = fork.stackmerge("rebuild", "--json")
    assert (blocked.code, blocked.json["steps"][0]["reused"]) == (4, False)
    assert fork.stackmerge("abort").code == 0
    fixed = fork.stackmerge("rebuild", "--apply-hazard-edits", "--json")
    assert fixed.code == 0, fixed.err
    assert fork.show("deploy", DISK) + "\n" == FIXTURE["good"]
    assert fork.stackmerge("rebuild", "--fresh", "--json").json["tip"] == fixed.json["tip"]


def test_a_clean_merge_that_blocks_is_answered_in_the_work_tree_and_becomes_a_fixup(fork: Fork) -> None:
    fork.stack("v1", "first", "second")
    blocked = fork.stackmerge("rebuild", "--json")
    assert (blocked.code, blocked.json["steps"][1]["outcome"]) == (4, "hazard")
    assert "duplicate-definition" in blocked.err
    assert (fork.tree / "util.py").read_text() == ADDED + UTIL + ADDED
    assert fork.stackmerge("rebuild").code == 1  # one is under way

    fork.answer({"util.py": ADDED + UTIL})
    done = fork.stackmerge("continue", "--json")
    assert done.code == 0, done.err
    assert fork.show("deploy", "util.py") + "\n" == ADDED + UTIL
    kinds = [one["kind"] for one in fork.stackmerge("rerere", "list", "--json").json["resolutions"]]
    assert kinds in (["fixup"], [])
    assert fork.stackmerge("rebuild", "--fresh", "--json").code == 0


def test_keep_going_leaves_a_blocked_step_out_and_lists_it(fork: Fork) -> None:
    fork.stack("v1", "first", "second", "filler")
    ran = fork.stackmerge("rebuild", "--keep-going", "--json")
    assert (ran.code, ran.json["status"]) == (4, "hazard")
    assert [step["outcome"] for step in ran.json["steps"]] == ["clean", "hazard", "clean"]


def test_an_allowed_rule_must_exist(fork: Fork) -> None:
    fork.stack("v1", "first", extra="  allow: {rule: no-such-rule, reason: why not}\n")
    ran = fork.stackmerge("rebuild")
    assert ran.code == 2
    assert "first: `allow` names 'no-such-rule', which is no rule" in ran.err


def test_a_rule_of_the_repository_is_asked_and_a_broken_one_is_an_error(fork: Fork) -> None:
    rule = fork.path / "hazards" / "no-clamp.yaml"
    rule.parent.mkdir()
    rule.write_text(
        "id: no-clamp\nseverity: block\ntitle: No clamp\nlanguage: python\nmatch: {theirs: {adds: clamp}}\n"
        "facts: {clamp: {rule: {pattern: 'return value'}}}\nhazard: {all: clamp, delta: present}\n"
    )
    fork.stack("v1", "first")
    ran = fork.stackmerge("rebuild")
    assert (ran.code, "BLOCKED by no-clamp" in ran.err) == (4, True)
    assert fork.stackmerge("abort").code == 0
    rule.write_text("id: no-clamp\nseverity: loud\ntitle: No\ncheck: lint_delta\n")
    ran = fork.stackmerge("rebuild")
    assert (ran.code, "hazards/no-clamp.yaml:2: severity" in ran.err) == (2, True)


def test_the_commands(fork: Fork) -> None:
    fork.stack("v1", "first", "second")
    assert fork.stackmerge("hazards", "check").code == 4
    assert fork.stackmerge("rebuild").code == 4
    checked = fork.stackmerge("hazards", "check", "second", "--json")
    assert checked.code == 4
    assert checked.json["steps"][0]["hazards"][0]["rule"] == "duplicate-definition"
    assert fork.stackmerge("hazards", "check", "first").code == 0
    assert fork.stackmerge("hazards", "check", "third").code == 2
    listed = fork.stackmerge("hazards", "list", "--json").json["rules"]
    assert FENCE in {rule["id"] for rule in listed}
    assert fork.stackmerge("hazards", "test", FENCE).code == 0
    assert "deadlock" in fork.stackmerge("hazards", "explain", FENCE).out
    assert fork.stackmerge("hazards", "explain", "no-such-rule").code == 2
