"""The canonical case: upstream's fence, the fork's filler, and everything that may be made of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from stackmerge.hazard.edits import apply_edits
from stackmerge.hazard.evaluate import examine
from stackmerge.hazard.library import shipped
from tests.hazards import fence
from tests.hazards.fence import DISK, FIXTURE, NOT_CHECKED, RECORD, SILENT, VARIANTS, WAIT, Variant
from tests.hazards.trees import Scratch

RULE = "ple-graph-fence"
BY_NAME = {variant.name: variant for variant in VARIANTS}


def files(text: str) -> dict[str, str]:
    return {DISK: text}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_each_variant_gets_the_answer_that_the_suite_gives_it(scratch: Scratch, variant: Variant) -> None:
    text = variant.texts()
    sides = (files(text["base"]), files(text["ours"]), files(text["theirs"]))
    expected = set() if variant.answer == SILENT else {(RULE, variant.answer)}
    assert scratch.said(*sides, files(text["merged"]), RULE) == expected


@pytest.mark.skipif(not find_spec("torch"), reason="the engine's suite needs torch")
@pytest.mark.parametrize(("tree", "status"), [("good", 0), ("bad", 1)])
def test_the_fixtures_do_what_the_rule_says(tmp_path: Path, tree: str, status: int) -> None:
    place = tmp_path / tree  # a copy: importing from the fixtures would leave bytecode among them
    shutil.copytree(shipped() / RULE / tree, place)
    command = [sys.executable, "-m", "ple_engine.conformance", "--suite", "no-graph-fence"]
    done = subprocess.run(
        [*command, "--target", "freetoken", "--tree", str(place)], capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout
    assert ("hung" in done.stdout or "never completed" in done.stdout) == bool(status)


def test_the_finding_shows_the_lines_the_hint_and_the_gate(scratch: Scratch) -> None:
    merged = FIXTURE["bad"].split("\n")
    (found,) = scratch.ask(*(files(FIXTURE[s]) for s in ("base", "ours", "theirs", "bad")), RULE)
    for number, text in found.lines:
        assert text in merged[number - 1]
    seen = [text for _, text in found.lines]
    assert [t for t in seen if "_graph_consumed.record" in t]
    assert [t for t in seen if "_graph_consumed.synchronize" in t]
    assert "self._graph_consumed" in found.hint
    assert found.gates == ("no-graph-fence",)


@pytest.mark.parametrize(("ours", "theirs"), [("ours", "theirs"), ("theirs", "ours")])
def test_before_the_merge_the_sides_alone_give_a_warning_and_the_gate(
    scratch: Scratch, ours: str, theirs: str
) -> None:
    sides = scratch.sides(files(FIXTURE["base"]), files(FIXTURE[ours]), files(FIXTURE[theirs]), None)
    examined = examine(scratch.objects, sides, scratch.rules, step="s")
    (found,) = examined.findings
    assert (found.rule, found.severity, found.disposition) == (RULE, "warn", "found")
    assert f"{'theirs' if theirs == 'theirs' else 'ours'} adds wait" in found.reason
    assert examined.gates == ("no-graph-fence",)


def test_the_right_merge_is_silent_in_every_rule_and_still_asks_for_the_gate(scratch: Scratch) -> None:
    sides = [files(FIXTURE[s]) for s in ("base", "ours", "theirs", "good")]
    assert scratch.ask(*sides) == []
    examined = examine(scratch.objects, scratch.sides(*sides), scratch.rules, step="s")
    assert (examined.findings, examined.matched, examined.gates) == ((), (RULE,), ("no-graph-fence",))


def edited(scratch: Scratch, variant: Variant) -> str:
    text = variant.texts()
    sides = scratch.sides(*(files(text[s]) for s in ("base", "ours", "theirs", "merged")))
    tree = apply_edits(scratch.objects, sides, scratch.rules.get(RULE))
    entry = scratch.objects.lookup(tree, DISK)
    assert entry is not None
    return scratch.objects.blob(entry.oid).decode()


@pytest.mark.parametrize(
    "name", ["the natural answer", "another name for the event", "two events", "a wait for every fill"]
)
def test_the_edits_make_the_right_merge_of_the_wrong_one_byte_for_byte(scratch: Scratch, name: str) -> None:
    assert edited(scratch, BY_NAME[name]) == BY_NAME[name].texts()["good"]


def test_an_edit_deletes_the_fence_in_helpers_too(scratch: Scratch) -> None:
    for name in ("the wait in a helper", "the record in a helper"):
        assert "_graph_consumed" not in edited(scratch, BY_NAME[name])


def test_a_merge_that_keeps_one_eager_buffer_is_blocked_as_well(scratch: Scratch) -> None:
    sides = [files(FIXTURE[s]) for s in ("base", "ours", "theirs")]
    found = scratch.ask(*sides, files(FIXTURE["ours"]), RULE)
    assert [(f.severity, "_eager_read" in f.reason) for f in found] == [("block", True)]


def test_a_fence_that_nothing_waits_for_is_a_leftover(scratch: Scratch) -> None:
    sides = [files(FIXTURE[s]) for s in ("base", "ours", "theirs")]
    assert scratch.said(*sides, files(FIXTURE["bad"].replace(WAIT, "")), RULE) == {(RULE, "warn")}


def test_upstream_alone_and_the_fork_alone_are_silent(scratch: Scratch) -> None:
    base, ours, theirs = (files(FIXTURE[s]) for s in ("base", "ours", "theirs"))
    assert scratch.ask(base, ours, base, ours) == []
    assert scratch.ask(base, theirs, base, theirs) == []
    assert scratch.ask(base, base, base, base) == []


def test_a_fence_in_one_class_and_a_filler_in_another_do_not_clash(scratch: Scratch) -> None:
    fenced = "class UpstreamTable:" + FIXTURE["theirs"].partition("class DiskRowTable:")[2]
    base = FIXTURE["base"] + "\n\n" + fenced.replace(RECORD, "").replace(WAIT, "").replace(fence.CREATE, "")
    ours = FIXTURE["ours"] + "\n\n" + fenced.replace(RECORD, "").replace(WAIT, "").replace(fence.CREATE, "")
    theirs, merged = FIXTURE["base"] + "\n\n" + fenced, FIXTURE["ours"] + "\n\n" + fenced
    assert scratch.said(*map(files, (base, ours, theirs, merged)), RULE) == set()


def test_a_renamed_file_is_not_checked_rather_than_silent(scratch: Scratch) -> None:
    base, ours = files(FIXTURE["base"]), files(FIXTURE["ours"])
    theirs = {DISK.replace("ple_disk", "disk_rows"): FIXTURE["theirs"]}
    merged = {DISK.replace("ple_disk", "disk_rows"): FIXTURE["bad"]}
    assert scratch.said(base, ours, theirs, merged, RULE) == {(RULE, NOT_CHECKED)}


def test_what_python_refuses_is_not_checked(scratch: Scratch) -> None:
    """tree-sitter finds no error in a `return` outside of a function."""
    broken = FIXTURE["good"].replace("    reads_row_ids = False\n", "    return\n")
    sides = [files(FIXTURE[s]) for s in ("base", "ours", "theirs")]
    assert scratch.said(*sides, files(broken), RULE) == {(RULE, NOT_CHECKED)}
