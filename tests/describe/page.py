"""A description as GitHub renders it, and what a test asks of the page."""

from __future__ import annotations

from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options

_EXTENSIONS = ["table", "autolink", "strikethrough", "tagfilter", "tasklist"]
_VOID = ("br", "hr", "img", "input")


def render(markdown: str) -> str:
    """HTML as GitHub makes it, raw HTML included: what of it is allowed is for the test to say."""
    html = cmarkgfm.markdown_to_html_with_extensions(markdown, Options.CMARK_OPT_UNSAFE, _EXTENSIONS)
    return str(html)


class Page(HTMLParser):
    """The elements of a page, in order, and its text, in code and outside it."""

    def __init__(self, markdown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.html = render(markdown)
        self.tags: list[str] = []
        self.links: list[str] = []
        self.plain = ""
        self.code = ""
        self.text = ""
        self.comments: list[str] = []
        self.rows: list[list[str]] = []
        self.headings: list[str] = []
        self.items: list[str] = []
        self._open: list[str] = []
        self.balanced = True
        self.feed(self.html)
        self.close()
        self.balanced = self.balanced and not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in _VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        for name, found in (("td", self.rows), ("th", self.rows)):
            if tag == name:
                found[-1].append("")
        if tag == "li":
            self.items.append("")
        if tag in ("h1", "h2", "h3"):
            self.headings.append("")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.balanced = False

    def handle_comment(self, data: str) -> None:
        self.comments.append(data.strip())

    def handle_data(self, data: str) -> None:
        self.text += data
        if "code" in self._open or "pre" in self._open:
            self.code += data
        else:
            self.plain += data
        if "td" in self._open or "th" in self._open:
            self.rows[-1][-1] += data
        if "li" in self._open:
            self.items[-1] += data
        if {"h1", "h2", "h3"} & set(self._open):
            self.headings[-1] += data

    def table(self, heading: str) -> list[list[str]]:
        """The rows whose table begins with a column of this name."""
        start = next(i for i, row in enumerate(self.rows) if row and row[0] == heading)
        end = next(
            (i for i in range(start + 1, len(self.rows)) if len(self.rows[i]) != len(self.rows[start])), None
        )
        return self.rows[start + 1 : end]
