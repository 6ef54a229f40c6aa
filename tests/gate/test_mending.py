"""A step that a gate fails on is mended, or taken as it is: what a person did there is neither lost nor in the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.gate.test_gating import shell, stack, write_manifest
from tests.sandbox import Sandbox

NO_TWO = {"name": "no-two", "run": shell("test ! -f two.txt || grep -q mended two.txt")}


def stopped(fork: Sandbox, *options: str) -> Any:
    """A rebuild that a gate stops."""
    ran = fork.stackmerge("rebuild", *options, "--json")
    assert ran.code == 5, ran.err
    return ran.json


def test_a_failure_is_not_taken_over_what_was_changed_there(fork: Sandbox) -> None:
    stack(fork, [NO_TWO], ("one", "two"))
    tree = Path(stopped(fork)["worktree"])
    (tree / "new.txt").write_text("new\n")
    refused = fork.stackmerge("continue", "--accept-failure", "known")
    assert refused.code == 1
    assert refused.err.startswith(f"error: --accept-failure takes two as it failed, and {tree} has changes\n")
    assert fork.stackmerge("rebuild").code == 1
    assert (tree / "new.txt").exists()

    (tree / "new.txt").unlink()
    taken = fork.stackmerge("continue", "--accept-failure", "known")
    assert taken.code == 0, taken.err


def accepted_then_gated(fork: Sandbox) -> str:
    """An accepted stack whose second step fails on a gate that is new; the tip."""
    stack(fork, [], ("one", "two", "three"))
    assert fork.stackmerge("rebuild").code == 0
    write_manifest(fork, [{"name": "mended", "run": shell("test ! -f two.txt || grep -q mended base.txt")}])
    return fork.git("rev-parse", "deploy")


def mend(fork: Sandbox, tree: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tree / name).write_text(text)
    fork.git("add", "-A", cwd=tree)


def test_a_file_that_the_step_had_not_touched_is_explained_by_the_mending(fork: Sandbox) -> None:
    accepted_then_gated(fork)
    tree = Path(stopped(fork)["worktree"])
    mend(fork, tree, {"base.txt": "half\n", "new.txt": "new\n"})
    again = fork.stackmerge("continue", "--json")
    assert again.code == 5, again.err
    assert again.json["proof"]["holds"]
    mend(fork, tree, {"base.txt": "mended\n"})
    done = fork.stackmerge("continue", "--json")
    assert done.code == 0, done.err
    assert [step["outcome"] for step in done.json["steps"]] == ["clean", "fixup", "clean"]
    assert [gate["words"] for gate in done.json["gates"]] == ["passed on CPU"] * 3
    assert done.json["proof"]["paths"] == [
        {"path": "base.txt", "verdict": "explained", "step": "two"},
        {"path": "new.txt", "verdict": "explained", "step": "two"},
    ]
    assert fork.show("deploy", "base.txt") == "mended"
    assert not tree.exists()
    assert fork.stackmerge("verify").code == 0

    moved = fork.stackmerge("rebuild", "--onto", "v2", "--json")
    assert moved.code == 0, moved.err
    assert moved.json["proof"]["counts"] == {"base": 1}
    assert fork.show("deploy", "base.txt") == "mended"


def test_what_was_mended_before_an_abort_is_explained_in_the_next_rebuild(fork: Sandbox) -> None:
    accepted_then_gated(fork)
    tree = Path(stopped(fork)["worktree"])
    mend(fork, tree, {"base.txt": "half\n"})
    assert fork.stackmerge("continue").code == 5
    assert fork.stackmerge("abort").code == 0
    assert [path["verdict"] for path in stopped(fork)["proof"]["paths"]] == ["explained"]


def test_a_fixup_of_another_source_explains_nothing_and_the_ways_out_are_named(fork: Sandbox) -> None:
    """It was learned from a merge elsewhere, and no person has looked at it here."""
    before = accepted_then_gated(fork)
    fork.git("checkout", "-q", "-f", "--detach", "deploy~2")
    fork.git("merge", "-q", "--no-ff", "--no-commit", "two")
    evil = fork.commit({"base.txt": "evil\n"}, "Merge branch 'two'")
    assert fork.stackmerge("train", f"{evil}~1..{evil}").code == 0
    failed = fork.stackmerge("rebuild", "--gates", "off")
    assert failed.code == 6, failed.err
    assert "    base.txt: differs\n" in failed.err
    assert "see `stackmerge verify`\n`stackmerge accept --unproven REASON` takes the result" in failed.err
    assert "`stackmerge rerere forget ID` takes a recorded answer out of the next one\n" in failed.err
    assert fork.git("rev-parse", "deploy") == before
    assert fork.stackmerge("accept").code == 1
    assert fork.stackmerge("accept", "--unproven", "it is wanted").code == 0
    assert fork.show("deploy", "base.txt") == "evil"

    # the reason was given for this very result: going back to it does not ask for one again
    assert fork.stackmerge("undo").code == 0
    assert fork.git("rev-parse", "deploy") == before
    elsewhere = fork.path.parent / "elsewhere"
    fork.git("worktree", "add", "-q", str(elsewhere), "deploy")
    assert "then `stackmerge accept` finishes this undo" in fork.stackmerge("undo").err
    fork.git("checkout", "-q", "--detach", cwd=elsewhere)
    assert fork.stackmerge("accept").code == 0
    assert fork.show("deploy", "base.txt") == "evil"


def test_mending_one_step_forgets_no_answer_of_another(fork: Sandbox) -> None:
    """Both steps conflict alike, each in a file of its own, and one of the answers is wrong."""
    lines = "".join(f"{n}\n" for n in range(9))
    before = {name: f"{lines}x\n\n{name}\n{lines}" for name in ("p", "q")}
    fork.commit(before, "one")
    for step, name in (("one", "p"), ("two", "q")):
        fork.branch(step, "main", {name: before[name].replace("x\n", "t\n")}, step)
    fork.commit({name: text.replace("x\n", "o\n") for name, text in before.items()}, "two")
    gates = [{"name": "no-bad", "run": shell("! grep -q bad p")}]
    manifest = {"stack": "deploy", "base": "main", "gates": gates}
    steps = [{"name": step, "merge": step} for step in ("one", "two")]
    fork.manifest(json.dumps({**manifest, "steps": steps}))
    for name, answer, options in (("p", "bad", ("rebuild",)), ("q", "two", ("continue",))):
        ran = fork.stackmerge(*options, "--json")
        assert ran.code == 3, ran.err
        mend(fork, Path(ran.json["worktree"]), {name: before[name].replace("x\n", f"{answer}\n")})
    ran = fork.stackmerge("continue", "--json")
    assert ran.code == 5, ran.err
    mend(fork, Path(ran.json["worktree"]), {"p": before["p"].replace("x\n", "good\n")})

    done = fork.stackmerge("continue", "--json")
    assert done.code == 0, done.err
    assert "\ngood\n" in fork.show("deploy", "p")
    assert "\ntwo\n" in fork.show("deploy", "q")
    assert fork.stackmerge("rebuild", "--fresh").code == 0


def test_a_gate_that_printed_nothing_has_no_end_of_its_log(fork: Sandbox) -> None:
    stack(fork, [{"name": "silent", "run": "false"}], ("one",))
    ran = fork.stackmerge("rebuild")
    assert ran.code == 5
    assert "stopped at one: the gate silent failed (exit status 1)\nthe whole log: " in ran.err
