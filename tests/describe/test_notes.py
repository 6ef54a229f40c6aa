"""Notes of the manifest's author: they stay Markdown, and nothing hides behind what only looks like code."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stackmerge.describe import escape
from tests.describe.page import Page

WORDS = ["@octocat", "<img/src=x>", "https://a.example/@ada", "a", "\\", '"', "===", "---", "\t"]
MARKS = ["`", "``", "```", "~~~", "|", "|---|", "[x](", ")", "[a]:", "-", ">", "#", "1."]
SPACES = [" ", "   ", "    ", "\n", "\n", "\n\n", "- ", "> ", "| ", "# ", "1. "]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS + MARKS + SPACES), max_size=24).map("".join))
@example("_@octocat_ and\n\na lone ` tick\n\n@torvalds <img src=x>\n\nanother ` tick")
@example("```code``` @octocat\n<img/src=x>")
@example("\\`@octocat\\`")
@example("- ```\n  a\n  ```\n@octocat")
@example("| a | b |\n|---|---|\n| ` | @octocat ` |")
@example("# a ` b\n@octocat `")
@example("```\na\n```~~\n```\n@octocat")
@example("- a\n  ```\n  b\n@octocat\n  ```")
@example("[x](`) @octocat `")
@example("cc/@octocat @&#111;ctocat")
def test_nothing_hides_behind_code(text: str) -> None:
    page = Page(escape.prose(text))
    assert "img" not in page.tags
    words = re.sub(r"https://a\.example/\S*", "", page.plain)
    assert not re.search(r"(?<![^\W_])@\w", words)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Run `python -m\npytest @x <y>`", "python -m pytest @x <y>"),
        ("Or `a | b`, not \\`this\\`", "a | b"),
        ("``a ` @x``", "a ` @x"),
        ("- see\n  ```\n  @decorated\n  <x>\n  ```\n", "@decorated\n<x>\n"),
        ("```c\n#include <x>\n```\n\n`@a`", "#include <x>\n@a"),
        ("| a |\n|---|\n| `x \\| @y` |", "x | @y"),
    ],
)
def test_code_stays_as_it_is(text: str, code: str) -> None:
    assert Page(escape.prose(text)).code == code


def test_an_address_keeps_its_at() -> None:
    page = Page(escape.prose("see https://a.example/@ada and ada@a.example"))
    assert page.links == ["https://a.example/@ada", "mailto:ada@a.example"]
