"""What became of each line; expectations by hand."""

from __future__ import annotations

from stackmerge.report.edits import edits
from stackmerge.report.hunks import Hunk
from stackmerge.report.marks import Line, marked, unmarked

HUNK = Hunk(7, ("a",), ("one", "same", ""), ("two", "same"), ("one", "same", "", "three", "two  "), ("z",))


def test_each_line_says_where_it_went_and_where_it_comes_from() -> None:
    found = marked(HUNK)
    assert found.ours == (Line("one", "kept"), Line("same", "kept"), Line("", ""))
    assert found.theirs == (Line("two", "kept"), Line("same", "kept"))
    assert [line.mark for line in found.answer] == ["ours", "both", "", "new", "theirs"]
    assert (found.before, found.after) == ((Line("a", ""),), (Line("z", ""),))


def test_a_line_that_the_answer_lacks_is_lost() -> None:
    found = marked(Hunk(1, (), ("one",), ("two",), ("two",), ()))
    assert (found.ours[0].mark, found.theirs[0].mark, found.answer[0].mark) == ("lost", "kept", "theirs")


def test_without_an_answer_nothing_is_kept_or_lost() -> None:
    found = unmarked(HUNK)
    assert {line.mark for line in (*found.ours, *found.theirs)} == {""}
    assert found.answer == ()


def test_edits_are_those_of_a_unified_diff_with_two_lines_around() -> None:
    old = "".join(f"{n}\n" for n in range(1, 21)).encode()
    new = old.replace(b"\n5\n", b"\nfive\n").replace(b"18\n", b"")
    first, second = edits(old, new)
    assert (first.line, second.line) == (3, 16)
    assert [(line.mark, line.text) for line in first.lines] == [
        ("", "3"), ("", "4"), ("gone", "5"), ("added", "five"), ("", "6"), ("", "7"),
    ]  # fmt: skip
    assert [(line.mark, line.text) for line in second.lines] == [
        ("", "16"), ("", "17"), ("gone", "18"), ("", "19"), ("", "20"),
    ]  # fmt: skip


def test_nothing_changed_has_no_edits_and_many_changes_are_cut() -> None:
    assert edits(b"a\n", b"a\n") == ()
    whole = edits(b"", b"".join(b"%d\n" % n for n in range(1000)))
    assert sum(len(edit.lines) for edit in whole) == 120
