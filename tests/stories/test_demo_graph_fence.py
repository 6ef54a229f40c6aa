"""Demo, stories 2 to 4: upstream's fence meets the fork's filler thread, from both sides."""

from __future__ import annotations

import ast
import re

import pytest

from tests.stories.conftest import DISK, DemoFork, needs_engine, outcomes

HANG = "TimeoutError: a fill waited on stream position 2, which never completed"
FIVE = ("rebuild", "--onto", "d3512b4")
TEN = ("rebuild", "--manifest", "1080deploy.yaml")


def resolution_id(demo: DemoFork) -> str:
    listed = demo.stackmerge("rerere", "list", "--json").json["resolutions"]
    (found,) = [one["id"] for one in listed if one["path"] == DISK]
    return str(found)


def test_one_conflict_in_one_function_while_the_fence_comes_in_unseen(demo: DemoFork) -> None:
    before = demo.git("rev-parse", "5080deploy")
    ran = demo.stackmerge(*FIVE, "--json")
    assert ran.code == 3
    assert list(outcomes(ran).items())[:4] == [
        ("jit-arch-521", "landed"), ("min-p-415", "replayed"), ("seed-433", "replayed"), ("ple-filler-67", "conflict"),
    ]  # fmt: skip
    (conflict,) = ran.json["steps"][3]["conflicts"]
    assert (conflict["path"], conflict["kind"], conflict["where"]) == (DISK, "content", "base")
    assert conflict["symbols"] == ["DiskRowTable.forward_host_ctx"]
    assert demo.git("rev-parse", "5080deploy") == before

    text = (demo.worktree() / DISK).read_text()
    (hunk,) = re.findall(r"^<{7} .*?^>{7} .*?\n", text, re.MULTILINE | re.DOTALL)
    rest = ast.parse(text.replace(hunk, "        yield\n"))
    fenced = {
        f.name
        for f in ast.walk(rest)
        if isinstance(f, ast.FunctionDef) and "_graph_consumed" in ast.unparse(f)
    }
    assert fenced == {"__init__", "fill"}
    assert "_graph_consumed.record" in hunk
    (context,) = [
        n for n in ast.walk(rest) if isinstance(n, ast.FunctionDef) and n.name == "forward_host_ctx"
    ]
    assert context.lineno < text[: text.index(hunk)].count("\n") + 1 <= (context.end_lineno or 0)


def test_the_rule_names_the_clash_before_anybody_has_answered_it(demo: DemoFork) -> None:
    for ran, step in (
        (demo.stackmerge("plan", "--onto", "d3512b4", "--json"), "ple-filler-67"),
        (demo.stackmerge("plan", "--manifest", "1080deploy.yaml", "--json"), "double-buffer-588"),
    ):
        assert ran.code == 0, ran.err
        found = {
            s["name"]: [f for f in s["hazards"] if f["disposition"] == "found"] for s in ran.json["steps"]
        }
        ((finding,),) = (hazards for hazards in found.values() if hazards)
        assert found[step] == [finding]
        assert (finding["rule"], finding["severity"], finding["path"]) == ("ple-graph-fence", "warn", DISK)
        assert any("_graph_consumed.synchronize" in line for _, line in finding["lines"])


def test_the_natural_answer_is_blocked_by_the_rule_and_not_recorded(demo: DemoFork) -> None:
    before = demo.git("rev-parse", "5080deploy")
    assert demo.stackmerge(*FIVE).code == 3
    demo.resolve("natural")
    ran = demo.stackmerge("continue")
    assert ran.code == 4
    assert f"ple-filler-67: BLOCKED by ple-graph-fence at {DISK}" in ran.err
    assert "self._graph_consumed.synchronize()" in ran.err
    assert demo.git("rev-parse", "5080deploy") == before
    assert DISK not in demo.stackmerge("rerere", "list").out


@needs_engine
def test_with_the_rule_allowed_the_natural_answer_hangs_in_the_gate_and_is_mended_there(
    demo: DemoFork,
) -> None:
    before = demo.git("rev-parse", "5080deploy")
    demo.allow("ple-filler-67", "ple-graph-fence")
    assert demo.stackmerge(*FIVE).code == 3
    demo.resolve("natural")
    ran = demo.stackmerge("continue")
    assert ran.code == 5
    assert "stopped at ple-filler-67: the gate no-graph-fence failed" in ran.err
    assert f"E   {HANG}" in [line.strip() for line in ran.err.splitlines()]
    assert demo.git("rev-parse", "5080deploy") == before

    demo.git("restore", "stackmerge.yaml")
    demo.resolve("right")
    mended = demo.stackmerge("continue", "--json")
    assert mended.code == 0, mended.err
    assert {g["gate"]: g["outcome"] for g in mended.json["gates"]} == {
        "no-graph-fence": "passed",
        "kernel": "passed",
    }
    resolution_id(demo)  # one answer, the right one
    assert demo.show("5080deploy", DISK) + "\n" == (demo.resolutions / "right" / DISK).read_text()


@pytest.mark.parametrize(
    ("command", "stack"), [(FIVE, "5080deploy"), (TEN, "1080deploy")], ids=["5080", "1080"]
)
def test_the_prescribed_edits_make_the_right_answer_of_the_natural_one(
    demo: DemoFork, command: tuple[str, ...], stack: str
) -> None:
    manifest = ("--manifest", "1080deploy.yaml") if command is TEN else ()
    assert demo.stackmerge(*command, "--gates", "off").code == 3
    demo.resolve("natural", stack)
    assert demo.stackmerge("continue", *manifest).code == 4
    ran = demo.stackmerge("continue", "--apply-hazard-edits", *manifest)
    assert ran.code == 0, ran.err
    right = (demo.resolutions / "right" / DISK).read_text()
    assert demo.show(stack, DISK) + "\n" == right
    (recorded,) = [
        r for r in demo.stackmerge("rerere", "list", "--json").json["resolutions"] if r["path"] == DISK
    ]
    assert recorded["source"] == "hazard"


@pytest.mark.parametrize(
    ("first", "stack", "second", "step"),
    [(FIVE, "5080deploy", TEN, "double-buffer-588"), (TEN, "1080deploy", FIVE, "ple-filler-67")],
    ids=["upstream below, filler merged", "filler below, upstream merged"],
)
def test_the_right_answer_recorded_in_one_orientation_replays_in_the_other(
    demo: DemoFork, first: tuple[str, ...], stack: str, second: tuple[str, ...], step: str
) -> None:
    manifest = ("--manifest", "1080deploy.yaml") if first is TEN else ()
    assert demo.stackmerge(*first, "--gates", "off").code == 3
    demo.resolve("right", stack)
    assert demo.stackmerge("continue", *manifest).code == 0
    recorded = resolution_id(demo)

    ran = demo.stackmerge(*second, "--gates", "off", "--json")
    assert ran.code == 0, ran.err
    (used,) = [r for s in ran.json["steps"] if s["name"] == step for r in s["resolutions"]]
    assert (used["kind"], used["id"], used["path"]) == ("text", recorded, DISK)
    assert demo.git("rev-parse", f"5080deploy:{DISK}") == demo.git("rev-parse", f"1080deploy:{DISK}")

    again = demo.stackmerge(*first, "--fresh", "--gates", "off", "--json")
    assert again.code == 0, again.err
    assert again.json["tip"] == demo.git("rev-parse", stack)
