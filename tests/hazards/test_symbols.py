"""Hunks and the symbols they belong to, and edits of symbols."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stackmerge.errors import StackmergeError
from stackmerge.hazard.deletion import delete_symbol
from stackmerge.hazard.symbols import conflict_views, of_conflict, of_text
from stackmerge.hazard.view import Unreadable
from tests.hazards.fence import FIXTURE


def merged_by_git(folder: Path, *options: str) -> str:
    names = []
    for name in ("ours", "base", "theirs"):
        names.append(folder / name)
        names[-1].write_text(FIXTURE[name])
    done = subprocess.run(
        ["git", "merge-file", "-p", *options, *map(str, names)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    return done.stdout


@pytest.mark.parametrize("options", [(), ("--diff3",)])
def test_the_canonical_conflict_is_one_hunk_in_forward_host_ctx(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    assert of_conflict(merged_by_git(tmp_path, *options), "python") == ["DiskRowTable.forward_host_ctx"]


def test_three_whole_files_are_made_of_one_with_markers(tmp_path: Path) -> None:
    views = conflict_views(merged_by_git(tmp_path, "--diff3"))
    for side, text in views.texts.items():
        compile(text, side, "exec")
        ((first, last),) = views.hunks[side]
        hunk = text.split("\n")[first - 1 : last]
        assert "\n".join(hunk) in FIXTURE[side]
    assert "_graph_consumed.record" in views.texts["theirs"]
    assert "_graph_consumed.record" not in views.texts["ours"]
    assert "_graph_consumed.synchronize" in views.texts["ours"]  # theirs alone, and merged cleanly


def test_markers_that_do_not_match_up_are_refused() -> None:
    with pytest.raises(Unreadable):
        conflict_views("<<<<<<< a\nx\n=======\ny\n")


def test_symbols_have_dotted_names_and_lines() -> None:
    text = "class A:\n    def f(self):\n        def g(): ...\n\ndef h():\n    pass\n"
    assert [(s.name, s.first, s.last) for s in of_text(text, "python")] == [
        ("A", 1, 3), ("A.f", 2, 3), ("A.f.g", 3, 3), ("h", 5, 6),
    ]  # fmt: skip
    assert [s.name for s in of_text("static int f(int a)\n{\n\treturn a;\n}\n", "c")] == ["f"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.e = E()\nx = 1\n", "x = 1\n"),
        ("if a:\n    self.e.record()\nx = 1\n", "x = 1\n"),
        ("if a:\n    self.e.record()\nelse:\n    y()\n", "if a:\n    pass\nelse:\n    y()\n"),
        ("if poll():\n    self.e.record()\n", "if poll():\n    pass\n"),
        ("def f():\n    self.e.record()\n", "def f():\n    pass\n"),
        ("x()\n\nself.e.record()\n\ny()\n", "x()\n\ny()\n"),
        ("# of e alone\nself.e = E()\nx = 1\n", "x = 1\n"),
        ("# of x\nself.f = E()\nself.e = E()\n", "# of x\nself.f = E()\n"),
        ("try:\n    x()\nfinally:\n    self.e.record()\n", "try:\n    x()\nfinally:\n    pass\n"),
        ("self.e.a(\n    1,\n)  # long\nx = 1\n", "x = 1\n"),
    ],
)
def test_a_symbol_is_deleted_with_what_only_serves_it(before: str, after: str) -> None:
    assert delete_symbol(before, "self.e", without="# of x\n") == after


@pytest.mark.parametrize(
    "text",
    [
        "f(self.e)\n",
        "x = self.e\n",
        "a(); self.e.record()\n",
        "if self.e:\n    x()\n",
        "self.e, x = 1, 2\n",
        "return self.e\n",
    ],
)
def test_a_statement_that_does_more_is_left_to_a_person(text: str) -> None:
    body = "".join(f"    {line}\n" for line in text.splitlines())
    with pytest.raises(StackmergeError):
        delete_symbol(f"def f():\n{body}", "self.e")
