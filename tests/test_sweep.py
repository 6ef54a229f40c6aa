"""What counts as a sweep: every one of several uses replaced by one side, further uses added by the other."""

from __future__ import annotations

import pytest

from stackmerge.sweep import brought_back

BASE = b"old\n1\nold\n"
SWEPT = b"new\n1\nnew\n"
MORE = b"old\n1\nold\n2\nold\n"


@pytest.mark.parametrize(("ours", "theirs"), [(SWEPT, MORE), (MORE, SWEPT)])
def test_a_new_use_of_what_the_other_side_replaced_is_named(ours: bytes, theirs: bytes) -> None:
    assert brought_back(BASE, ours, theirs, b"new\n1\nnew\n2\nold\n") == "old"


def test_an_answer_that_follows_the_sweep_is_fine() -> None:
    assert brought_back(BASE, SWEPT, MORE, b"new\n1\nnew\n2\nnew\n") is None


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        (b"old\n1\n", b"new\n1\n", b"old\n1\nold\n"),  # one place is no sweep
        (BASE, b"new\n1\nold\n", MORE),  # one place was left as it was
        (BASE, SWEPT, BASE),  # no new use
        (b"\n1\n\n", b"1\n", b"\n1\n\n2\n\n"),  # blank lines mean nothing
        (b"", SWEPT, MORE),  # both sides added the file
    ],
)
def test_what_is_no_sweep(base: bytes, ours: bytes, theirs: bytes) -> None:
    assert brought_back(base, ours, theirs, MORE) is None
