"""Whatever a stranger writes renders as the text it is: no element, no link, no mention, nothing invisible."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stackmerge.describe import escape
from tests.describe.page import Page

HOSTILE = [
    "<script>alert(1)</script> & <img src=x onerror=alert(1)>",
    "--> <!-- stackmerge:end merged --> <!--",
    "@everyone please look, cc @octocat and @org/team",
    "fixes #12, GH-7, up/stream#471 and https://github.com/up/stream/pull/471",
    "see www.example.com, mailto:a@b.example, a@b.example or ftp://x.example/",
    "| a | b |\n|---|---|\n| c | d |",
    "`code` ``two`` ``` three",
    "**bold** _it_ ~~gone~~ [link](https://x.example) ![image](y.png) [ref][1] [^1]",
    "# heading",
    "1. one",
    "- [ ] task",
    "> quote\n\n    code",
    "a\x00b\x1b[31mc\x07\x7f",
    "right\u202eleft \u2066iso\u2069 zero\u200bwidth \ufeffbom",
    "$x^2$ and $$y$$ :tada: :+1:",
    "\\`\\*\\_ \\| trailing \\",
    "&lt;b&gt; &#64;everyone &commat;all",
    "===",
    "~~~\nfence",
    "<https://x.example> <a@b.example>",
]
MENTION = re.compile(r"(?<![\w`])@\w|(?<!\w)#\d|\bGH-\d", re.IGNORECASE)


def shown(text: str) -> str:
    """What must be seen of a text: on one line, invisible characters written out."""
    return escape.visible(re.sub(r"[\r\n\t ]+", " ", text)).strip(" ")


def bare(text: str) -> str:
    """The text without the breaks that keep names from being mentions."""
    return text.replace("\u200b", "")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("around", ["{}", "- {}", "| {} | x |\n|---|---|\n| {} | y |", "Before {} after"])
def test_inline_text_is_text(text: str, around: str) -> None:
    page = Page(around.replace("{}", escape.inline(text)))
    assert set(page.tags) <= {"p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}
    assert shown(text) in bare(page.text)
    assert page.links == []
    assert page.comments == []
    assert not MENTION.search(page.text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_code_span_is_code_in_a_table_too(text: str) -> None:
    page = Page(f"| x |\n|---|\n| {escape.code(text)} |")
    assert page.tags == ["table", "thead", "tr", "th", "tbody", "tr", "td", "code"]
    assert bare(page.code) == shown(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_log_is_one_block(text: str) -> None:
    page = Page(f"<details><summary>log</summary>\n\n{escape.block(text)}\n\n</details>\n\nafter\n")
    assert page.tags == ["details", "summary", "pre", "code", "p"]
    assert page.plain.strip().endswith("after")


@pytest.mark.parametrize("text", HOSTILE)
def test_notes_stay_markdown_without_html_and_mentions(text: str) -> None:
    page = Page(escape.prose(text) + "\n\nafter\n")
    assert not set(page.tags) & {"script", "b", "details"}
    assert page.comments == []
    assert "after" in page.plain
    assert not re.search(r"(?<!\w)@(?!b\.example)\w", page.plain)


def test_a_pipe_is_shown_alike_in_a_table_and_out_of_it() -> None:
    for text in ("a | b || c", "a\\|b", "|", "x\\\\|<b>@octocat</b>"):
        for around in ("- {} x", "| x |\n|---|\n| {} |"):
            page = Page(around.replace("{}", escape.code(text)))
            assert bare(page.code) == text
            assert page.tags.count("td") == around.count("\n| {}")
            assert not {"b", "a"} & set(page.tags)


def test_notes_keep_what_markdown_is_for() -> None:
    page = Page(escape.prose("Some *emphasis*, `@code` and\n\n- a list\n\n```python\n@decorated\n```\n"))
    assert {"em", "code", "ul", "li", "pre"} <= set(page.tags)
    assert "@decorated" in page.code
    assert "@code" in page.code


def test_a_block_that_its_author_left_open_is_closed() -> None:
    page = Page(escape.prose("```\nnever closed") + "\n\nafter\n")
    assert page.tags == ["pre", "code", "p"]


def test_upstream_links_do_not_ping() -> None:
    text = escape.prose(
        "see https://github.com/up/stream/pull/471 and [it](https://github.com/up/stream/issues/1)"
    )
    assert Page(text).links == [
        "https://redirect.github.com/up/stream/pull/471",
        "https://redirect.github.com/up/stream/issues/1",
    ]


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60))
@example("0)")
@example("+\r\n=")
def test_any_text_is_text(text: str) -> None:
    page = Page(f"- {escape.inline(text) or 'x'}\n\n{escape.code(text)} end\n")
    assert set(page.tags) <= {"ul", "li", "p", "code"}
    assert page.links == []
    assert not MENTION.search(page.plain)
    assert all(unicodedata.category(c) not in ("Cc", "Cs") or c == "\n" for c in page.text)
