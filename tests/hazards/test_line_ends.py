"""Edits leave the line ends and the byte order mark of a file as they are."""

from __future__ import annotations

import pytest

from stackmerge.hazard.edits import apply_edits
from stackmerge.hazard.lineends import written_like
from tests.hazards.fence import DISK, FIXTURE
from tests.hazards.trees import Scratch

ENCODINGS = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "mark": lambda text: text.encode("utf-8-sig"),
    "crlf and mark": lambda text: text.replace("\n", "\r\n").encode("utf-8-sig"),
}


@pytest.mark.parametrize("how", ENCODINGS)
def test_the_edits_of_the_fence_make_the_very_bytes_of_the_right_merge(scratch: Scratch, how: str) -> None:
    write = ENCODINGS[how]
    base, ours, theirs, bad, good = (
        {DISK: write(FIXTURE[key])} for key in ("base", "ours", "theirs", "bad", "good")
    )
    rule = "ple-graph-fence"
    assert scratch.said(base, ours, theirs, bad, rule) == {(rule, "block")}
    assert scratch.said(base, ours, theirs, good, rule) == set()
    made = apply_edits(scratch.objects, scratch.sides(base, ours, theirs, bad), scratch.rules.get(rule))
    entry = scratch.objects.lookup(made, DISK)
    assert entry is not None
    assert scratch.objects.blob(entry.oid) == good[DISK]


@pytest.mark.parametrize(
    ("data", "text", "made"),
    [
        (b"a\nb\n", "a\nnew\nb\n", b"a\nnew\nb\n"),
        (b"a\r\nb", "a\nnew\nb", b"a\r\nnew\r\nb"),
        (b"a\nb\r\nc\r\n", "b\nnew\nc\n", b"b\r\nnew\r\nc\r\n"),
        (b"a\r\nb\nc\nd\r\ne\n", "a\nb\nnew\nd\ne\n", b"a\r\nb\nnew\nd\r\ne\n"),
        (b"same\nsame\r\nsame\n", "same\nsame\nsame\nsame\n", b"same\nsame\r\nsame\nsame\n"),
        (b"a\nb\nc\r\n", "a\nnew\nb\nc\n", b"a\nnew\nb\nc\r\n"),
        (b"a\nb\nc\r\n", "c\nd", b"c\r\nd"),
        (b"", "a\n", b"a\n"),
    ],
)
def test_each_line_ends_as_it_did(data: bytes, text: str, made: bytes) -> None:
    assert written_like(data, text) == made
