"""The hunks of a conflict beside their answer; expectations by hand."""

from __future__ import annotations

from stackmerge.report.hunks import Hunk, hunks

CONFLICTED = b"""\
a
<<<<<<< ours
one
=======
uno
>>>>>>> theirs
b
c
<<<<<<< ours
two
||||||| base
zwei
=======
>>>>>>> theirs
d
"""


def test_each_hunk_stands_beside_the_lines_that_took_its_place() -> None:
    found = hunks(CONFLICTED, b"a\none and uno\nb\nc\nd\n")
    assert found == [
        Hunk(2, ("a",), ("one",), ("uno",), ("one and uno",), ("b", "c")),
        Hunk(5, ("b", "c"), ("two",), (), (), ("d",)),
    ]


def test_markers_of_another_size_are_content() -> None:
    assert hunks(b"<<<<<<<<< not one\n", b"x\n") == []
    inner = b"<<<<<<< o\n======== eight\n=======\nb\n>>>>>>> t\n"
    assert hunks(inner, b"x\n")[0].ours == ("======== eight",)
