"""The painter by itself: what an emulated terminal shows after each write."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackmerge.screen import clean
from stackmerge.screen_terminal import beside, cells, fit
from stackmerge.show.above import printing_above
from stackmerge.show.paint import BOLD, Painter


class Terminal:
    """A terminal of 20 by 8 that a painter writes to."""

    def __init__(self) -> None:
        self._read, self.fd = os.pipe()
        os.set_blocking(self._read, False)
        self.screen = pyte.Screen(20, 8)
        self._stream = pyte.ByteStream(self.screen)
        self.writes: list[bytes] = []

    @property
    def rows(self) -> list[str]:
        try:
            while data := os.read(self._read, 65536):
                self.writes.append(data)
                self._stream.feed(data)
        except BlockingIOError:
            pass
        return [row.rstrip() for row in self.screen.display if row.rstrip()]


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    os.close(made.fd)


def lines(*texts: str) -> list[tuple[str, str]]:
    return [(text, BOLD) for text in texts]


def test_only_what_changed_is_written(terminal: Terminal) -> None:
    painter = Painter(terminal.fd, "utf-8")
    painter.paint(lines("one", "two", "three"), 20)
    assert terminal.rows == ["one", "two", "three"]
    painter.paint(lines("one", "2", "three"), 20)
    assert terminal.rows == ["one", "2", "three"]
    assert b"one" not in terminal.writes[-1]
    assert b"three" not in terminal.writes[-1]
    written = len(terminal.writes)
    painter.paint(lines("one", "2", "three"), 20)
    assert terminal.rows == ["one", "2", "three"]
    assert len(terminal.writes) == written
    painter.hide()
    assert terminal.rows == []
    assert (terminal.screen.cursor.x, terminal.screen.cursor.y) == (0, 0)


def test_what_is_printed_stands_above(terminal: Terminal) -> None:
    painter = Painter(terminal.fd, "utf-8")
    painter.paint(lines("one", "two"), 20)
    painter.above("a warning\r\n")
    assert terminal.rows == ["a warning", "one", "two"]
    for n in range(10):
        painter.above(f"{n}\r\n")
        assert terminal.rows[-2:] == ["one", "two"]
    painter.hide()
    assert terminal.rows == ["5", "6", "7", "8", "9"][-len(terminal.rows) :]


def test_a_line_that_has_not_ended_comes_at_the_end(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with os.fdopen(os.dup(terminal.fd), "w") as stream:
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys, "stderr", stream)
        painter = Painter(terminal.fd, "utf-8")
        painter.paint(lines("view"), 20)
        with printing_above(painter):
            print("a\nb", file=sys.stderr, end="")
            assert terminal.rows == ["a", "view"]
        assert terminal.rows == ["a", "b"]
        assert sys.stderr is stream


def test_a_terminal_that_is_gone_stops_nobody() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    painter = Painter(writer, "utf-8")
    for text in ("one", "two"):
        painter.paint(lines(text), 20)
        painter.above("x\r\n")
    os.close(writer)


def test_a_terminal_that_cannot_show_it(terminal: Terminal) -> None:
    Painter(terminal.fd, "ascii").paint(lines("漢字\u2026"), 20)
    assert terminal.rows == ["???"]


# What `clean` lets through and both rich and pyte know the width of.
KNOWN = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs"), max_codepoint=0xFFFF))


@given(KNOWN, st.integers(0, 100))
def test_fitted_text_fits_and_is_a_beginning(text: str, width: int) -> None:
    text = clean(text)
    found = fit(text, width)
    assert cells(found) <= width
    assert text.startswith(found.removesuffix("\u2026"))


@given(KNOWN, KNOWN, st.integers(1, 100))
def test_two_texts_beside_each_other_fit(left: str, right: str, width: int) -> None:
    assert cells(beside(clean(left), clean(right), width)) <= width


def test_widths() -> None:
    assert cells("漢字") == 4
    assert cells("e\u0301") == 1
    assert fit("漢字漢字", 5) == "漢字\u2026"
    assert beside("abcdef", "12", 7) == "ab\u2026" + "  " + "12"
