"""What CI servers are given of a rebuild: JUnit XML that keeps to the schema, and Markdown that is only text."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import xmlschema

from stackmerge.gate import junit as reader
from tests.describe.page import Page
from tests.gate.test_gating import shell, stack
from tests.report.test_report import HOSTILE, conflicted_stack
from tests.sandbox import Sandbox
from tests.stories.steps import resolve
from tests.terminal.stacks import rebuilding, status_with_line, talking

SCHEMA = xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))
UGLY = "</testcase>]]> | @octocat #1 ` <img src=x> \x1b[31m\ufffe\u202e"


def written(fork: Sandbox, tmp_path: Path) -> tuple[ElementTree.Element, Page]:
    """Both files of the last rebuild: the suite, checked against the schema, and the page."""
    junit, summary = tmp_path / "junit.xml", tmp_path / "summary.md"
    ran = fork.stackmerge("report", "--junit", str(junit), "--summary", str(summary), "--json")
    assert ran.code == 0, ran.err
    assert ran.json == {"junit": str(junit), "summary": str(summary)}
    assert not (fork.path / "stackmerge-report.html").exists()
    SCHEMA.validate(str(junit))
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    assert suite is not None
    counts = reader.read(junit).counts
    assert {key: int(suite.get(key, "-1")) for key in counts} == counts
    return suite, Page(summary.read_text())


def results(suite: ElementTree.Element) -> dict[tuple[str, str], tuple[str, str]]:
    """Each case by class and name: how it ended, and what it says."""
    found = {}
    for case in suite.iter("testcase"):
        ends = [(one.tag, one.get("message", "")) for one in case if one.tag != "system-out"]
        passed = ("passed", case.findtext("system-out", ""))
        found[case.get("classname", ""), case.get("name", "")] = ends[0] if ends else passed
    return found


def test_a_failed_gate(fork: Sandbox, tmp_path: Path) -> None:
    stack(fork, [{"name": "no-two", "run": shell("echo looking; test ! -f two.txt")}])
    assert fork.stackmerge("rebuild").code == 5
    suite, page = written(fork, tmp_path)
    found = results(suite)
    assert [result for result, _ in found.values()] == ["passed"] * 3 + ["failure", "passed"]
    assert found["deploy.gates.one", "no-two"] == ("passed", "passed on CPU")
    assert found["deploy.gates.two", "no-two"] == ("failure", "failed (exit status 1)")
    assert suite.findtext("testcase/failure") == "looking"
    assert "Stopped at two: the gate no-two failed (exit status 1)." in page.plain
    assert "looking" in page.code
    assert [row[1:3] for row in page.table("")] == [["one", "clean"], ["two", "clean"], ["three", "clean"]]
    assert [row[4] for row in page.table("")] == [
        "no-two: passed on CPU",
        "no-two: failed (exit status 1)",
        "",
    ]


def test_a_conflict_and_the_steps_above_it(fork: Sandbox, tmp_path: Path) -> None:
    fork.commit({"a": "1\n"}, "one")
    fork.git("tag", "v1")
    for name in ("red", "blue", "green"):
        fork.branch(name, "v1", {"a": f"{name}\n"}, name)
    steps = "".join(f"- name: {name}\n  merge: {name}\n" for name in ("red", "blue", "green"))
    fork.manifest(f"stack: deploy\nbase: v1\nsteps:\n{steps}")
    stopped = fork.stackmerge("rebuild", "--json")
    suite, page = written(fork, tmp_path)
    found = results(suite)
    assert found["deploy.steps", "02 blue"][0] == "failure"
    assert found["deploy.steps", "02 blue"][1].startswith("conflict: a (content): ")
    assert found["deploy.steps", "03 green"] == ("skipped", "not built")
    assert "Stopped at blue: a conflict needs a person." in page.plain
    assert page.items[0].startswith("blue: a (content): ")
    resolve(fork, stopped.json, {"a": "purple\n"})
    fork.stackmerge("continue")
    assert results(written(fork, tmp_path)[0])["deploy.steps", "02 blue"][0] == "passed"


def test_a_gpu_that_is_required_and_was_not_there(fork: Sandbox, tmp_path: Path) -> None:
    fork.environment["CUDA_VISIBLE_DEVICES"] = ""
    stack(fork, [{"name": "kernels", "run": "true", "requires": {"gpu": "preferred"}}], ("one",))
    assert fork.stackmerge("rebuild", "--require-gpu").code == 5
    suite, page = written(fork, tmp_path)
    result, message = results(suite)["deploy.gates.one", "kernels"]
    assert (result, message) == (
        "failure",
        "passed on CPU: not proven on a GPU, which --require-gpu asks for",
    )
    assert "Not proven on a GPU: kernels." in page.plain


def test_the_proof_is_a_case(fork: Sandbox, tmp_path: Path) -> None:
    stack(fork, [])
    assert fork.stackmerge("rebuild").code == 0
    assert fork.stackmerge("rebuild", "--onto", "v2").code == 0
    suite, page = written(fork, tmp_path)
    assert results(suite)["deploy", "proof"] == ("passed", "")
    assert "The proof holds: 1 base." in page.plain
    assert "Accepted." in page.plain


def test_a_killed_rebuild_is_no_success(fork: Sandbox, tmp_path: Path) -> None:
    talking(fork, seconds=120)
    with rebuilding(fork):
        status_with_line(fork, "")
    suite, page = written(fork, tmp_path)
    assert results(suite)["deploy", "end"][0] == "failure"
    assert "Not at its end" in page.plain


def test_what_strangers_wrote_is_text(fork: Sandbox, tmp_path: Path) -> None:
    conflicted_stack(fork)
    manifest = fork.path / "stackmerge.yaml"
    script = tmp_path / "gate.sh"
    script.write_text(f"printf '%s' '{UGLY}'; false")
    steps = manifest.read_text().partition("gates:")[0]
    manifest.write_text(f"{steps}gates:\n- name: ugly\n  run: [sh, '{script}']\n")
    assert fork.stackmerge("rebuild").code == 5
    suite, page = written(fork, tmp_path)
    detail = suite.findtext("testcase/failure") or ""
    assert detail.startswith("</testcase>]]> | @octocat #1 ` <img src=x> \\u{1b}[31m\\u{fffe}\\u{202e}")
    assert not {"script", "img", "a"} & set(page.tags)
    assert page.balanced
    assert HOSTILE.replace("\u202e", "\\u{202e}") in page.text.replace("\u200b", "")
    assert "@octocat" not in page.plain


def test_the_file_that_github_collects_is_added_to(fork: Sandbox, tmp_path: Path) -> None:
    conflicted_stack(fork)
    collected = tmp_path / "step_summary"
    collected.write_text("# before\n")
    fork.environment["GITHUB_STEP_SUMMARY"] = str(collected)
    for _ in range(2):
        assert fork.stackmerge("report", "--summary", str(collected)).code == 0
    text = collected.read_text()
    assert text.startswith("# before\n")
    assert text.count("## `deploy` on ") == 2


def test_the_page_stays_the_default(fork: Sandbox, tmp_path: Path) -> None:
    conflicted_stack(fork)
    assert fork.stackmerge("report", cwd=fork.path).code == 0
    assert (fork.path / "stackmerge-report.html").exists()
    both = fork.stackmerge("report", "--out", str(tmp_path / "a.html"), "--junit", str(tmp_path / "a.xml"))
    assert both.code == 0
    assert (tmp_path / "a.html").exists()
    assert (tmp_path / "a.xml").exists()
    nowhere = fork.stackmerge("report", "--junit", str(tmp_path / "no" / "a.xml"))
    assert nowhere.code == 1
    assert "name another file with --junit" in nowhere.err
