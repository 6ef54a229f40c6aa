"""The descriptions of the demo's stacks: golden texts, and what they say when GitHub has rendered them.

``STACKMERGE_GOLDEN=write`` writes the golden texts anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

from stackmerge.repository import Repository
from stackmerge.serving.keep import keep
from stackmerge.serving.measure import Measured, Workload
from stackmerge.serving.record import ServedRun
from stackmerge.stack import open_stack
from tests.describe.page import Page
from tests.sandbox import Sandbox

GOLDEN = Path(__file__).with_name("golden")
HASH_NOTES = """\
The row ids are hashed by one Triton kernel instead of twelve torch operations.

With `--ple-backend disk` this saves nothing in decode: the host hashes there. @chi knows more.
"""
HOW = "On one GPU, with no other process on it:\n\n```\npython -m pytest tests/kernel -q\n```\n"
JUNIT = """\
import sys
open(sys.argv[1], "w").write(
    '<testsuite><testcase/><testcase/><testcase><skipped message="CUDA graphs need a GPU"/></testcase>'
    '<properties><property name="device" value="CPU, interpreter"/></properties></testsuite>'
)
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The demo's fork, with a gate that takes no time, rebuilt twice, and measured."""
    root = tmp_path_factory.mktemp("demo")
    fork = Sandbox(root, "unused")
    assert fork.stackmerge("demo", str(root / "demo")).code == 0
    fork.path = root / "demo" / "fork"
    for name in ("stackmerge.yaml", "1080deploy.yaml"):
        manifest(fork.path / name)
    for base in ("cac247a", "cc1f5c2"):
        ran = fork.stackmerge("rebuild", "--onto", base)
        assert ran.code == 0, ran.err
    measure(fork)
    return fork


def manifest(path: Path) -> None:
    """Say more about the steps than the demo does, and gate every one of them with a fake report."""
    found = yaml.safe_load(path.read_text())
    found["upstream"]["repository"] = "upstream/freetoken"
    for step in found["steps"]:
        if step["name"] == "ple-hash-338":
            step["notes"] = HASH_NOTES
    found["how_to_test"] = HOW
    unit = {"name": "unit", "run": ["{python}", "-c", JUNIT, "{junit}"]}
    found["gates"] = [unit, {"name": "gpu", "run": "true", "requires": {"gpu": "required"}}]
    path.write_text(yaml.safe_dump(found, sort_keys=False))


def measure(fork: Sandbox) -> None:
    def runs(speed: float) -> Measured:
        return Measured(
            tuple(ServedRun(512, 5.0, (0.2, 0.21), speed + change) for change in (-0.5, 0.0, 0.5))
        )

    load = Workload("http://server.example/v1", "ple-tiny")
    with Repository(fork.path) as repository:
        for side, speed in (("before", 100.0), ("after", 104.0)):
            stack = open_stack(repository, fork.path / "stackmerge.yaml")
            keep(stack, "ple-hash-338", side, load, runs(speed), "freetoken serve --ple-backend ram")


def described(fork: Sandbox, *args: str) -> str:
    ran = fork.stackmerge("describe", *args)
    assert ran.code == 0, ran.err
    return ran.out


def golden(fork: Sandbox, text: str, name: str) -> None:
    """Compare with the golden text, ids by the name of what they are, days and times by a word."""
    known: dict[str, str] = {}
    refs = fork.git("for-each-ref", "--format=%(objectname) %(refname:short)", "refs/tags", "refs/heads")
    for line in refs.splitlines():
        oid, ref = line.split()
        known.setdefault(oid[:12], f"<{ref}>")
    others: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        return known.get(match[0]) or others.setdefault(match[0], f"<id {len(others) + 1}>")

    text = text.partition("<!-- stackmerge:state ")[0]
    text = re.sub(r"\b[0-9a-f]{40}\.xml", "<key>.xml", text)
    text = re.sub(r"\b[0-9a-f]{12}\b", named, text)
    text = re.sub(r"\b20\d\d-\d\d-\d\d\b", "<day>", text)
    text = re.sub(r"\b\d+\.\d s \|", "<time> |", text)
    text = re.sub(r"^- (python|torch|triton|system|machine|driver|gpu): .*\n", "", text, flags=re.MULTILINE)
    path = GOLDEN / name
    if os.environ.get("STACKMERGE_GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("step", ["gdn-conv-sync-339", "ple-hash-338", "ple-filler-67"])
def test_golden_texts_of_the_5080_stack(demo: Sandbox, step: str) -> None:
    golden(demo, described(demo, step), f"5080-{step}.md")


def test_golden_text_of_the_1080_stack(demo: Sandbox) -> None:
    text = described(demo, "float16-548", "--manifest", "1080deploy.yaml")
    golden(demo, text, "1080-float16-548.md")


def test_all_is_written_to_files_and_is_the_same_each_time(demo: Sandbox, tmp_path: Path) -> None:
    ran = demo.stackmerge("describe", "--all", "--out", str(tmp_path))
    assert ran.out == f"wrote 6 descriptions to {tmp_path}\n"
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files[0] == "01-min-p-415.md"  # the one below it landed
    assert (tmp_path / "05-ple-hash-338.md").read_text() == described(demo, "ple-hash-338")
    both = demo.stackmerge("describe", "ple-hash-338", "--out", str(tmp_path), "--json").json
    assert both["descriptions"]["ple-hash-338"] == described(demo, "ple-hash-338")
    assert described(demo, "ple-hash-338", "--json") == described(demo, "ple-hash-338", "--json")


def test_it_says_all_that_a_real_merge_stack_description_says(demo: Sandbox) -> None:
    """What is merged, changes, testing with skips explained, serving table, environment, stack, how, rebase notes."""
    page = Page(described(demo, "ple-hash-338"))
    assert page.headings == [
        "Changes", "Conflicts", "Testing", "Benchmarks", "Environment", "Stack", "How the tests were run",
        "Rebase notes",
    ]  # fmt: skip
    assert page.balanced
    head = demo.git("rev-parse", "refs/pull/338/head")[:12]
    assert (
        "Merges upstream upstream/freetoken#\u200b338 (Fuse the n-gram row-id hash into one Triton"
        in page.text
    )
    assert f"kernel, head {head}). Stacked on gdn-conv-sync-339." in page.text
    assert "By Chi Tanaka." in page.text
    assert "saves nothing in decode" in page.text
    assert "@\u200bchi" in page.text
    path = "python/freetoken/models/qwen4_exp/ple.py"
    conflict, changed = page.table("file")[-1], [row for row in page.rows if row[0] == path and len(row) == 3]
    stat = demo.git("diff", "--numstat", "5080/06-ple-hash-338^1", "5080/06-ple-hash-338", "--", path).split()
    assert changed == [[path, *stat[:2]]]
    assert conflict is not None
    unit, gpu = page.table("gate")
    assert unit[1:3] == ["passed on CPU, interpreter", "2 passed, 1 skipped"]
    assert unit[4] == demo.git("rev-parse", "5080/06-ple-hash-338^{tree}")[:12]
    assert gpu[1].startswith("not run (it requires a GPU") or gpu[1].startswith("passed on ")
    assert "unit: 1 skipped: CUDA graphs need a GPU" in page.items
    [decode, first] = page.table("metric")
    assert decode == ["decode, each request", "100.0 tokens/s", "104.0 tokens/s", "+4.0 %", "3", "1.0 %"]
    assert first[1:4] == ["205.0 ms", "205.0 ms", "+0.0 %"]
    assert "model: ple-tiny" in page.items
    assert "server: freetoken serve --ple-backend ram" in page.items
    assert "python -m pytest tests/kernel -q" in page.code
    base, old = (demo.git("rev-parse", tag)[:12] for tag in ("cc1f5c2", "cac247a"))
    newest, oldest = (item for item in page.items if item.startswith("Rebased "))
    assert f"onto upstream main {base} (4 commits past {old}: " in newest
    assert f"This pull request's head is now {demo.git('rev-parse', '5080/06-ple-hash-338')[:12]}." in newest
    assert "resolutions replayed unchanged, 0 new" in newest
    files = demo.git("diff", "--name-only", "e0886cc", "cac247a").splitlines()
    assert f"file set ({len(files)} files)." in oldest


def test_a_step_that_is_not_there(demo: Sandbox) -> None:
    ran = demo.stackmerge("describe", "nothing")
    assert ran.code == 2
    assert ran.err.startswith("error: the journal knows no step 'nothing'\n")
