"""A difference is the same whether what is common at the ends is given to libgit2 or not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stackmerge.hazard import view
from stackmerge.hazard.view import Change, FileView
from tests.hazards.trees import Scratch

LINES = st.lists(st.sampled_from(["", "}", "\tx = 1;", "é", "foo(2)", "long " * 9]), max_size=60)


def change(scratch: Scratch, old: str, new: str) -> Change:
    base, theirs = (scratch.objects.lookup(scratch.tree({"f": text}), "f") for text in (old, new))
    file = FileView(scratch.objects, "f", base, base, theirs, theirs, has_merged=True)
    return file.change("base", "theirs")


@settings(max_examples=150, deadline=None)
@given(head=LINES, middle=LINES, other=LINES, tail=LINES, end=st.sampled_from(["", "\n"]))
def test_what_is_left_out_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    head: list[str],
    middle: list[str],
    other: list[str],
    tail: list[str],
    end: str,
) -> None:
    scratch = Scratch(tmp_path_factory.mktemp("ends"))
    old, new = ("\n".join([*head, *part, *tail]) + end for part in (middle, other))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view, "_KEPT", 10**9)
        whole = change(scratch, old, new)
        patch.setattr(view, "_KEPT", 600)
        assert change(scratch, old, new) == whole


def test_a_zero_byte_far_from_the_start_hides_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    lines = [f"line {n} of a long file" for n in range(1, 1001)]
    lines[899] = "a\0b"
    changed = [*lines[:949], "another", *lines[950:]]
    found = change(Scratch(tmp_path_factory.mktemp("ends")), "\n".join(lines), "\n".join(changed))
    assert (found.added, found.removed) == (((950, "another"),), ((950, lines[949]),))
