"""Text of strangers made harmless in Markdown: it renders as the text it is, pings nobody and links to nothing.

GitHub links mentions, numbers and addresses after it has rendered the Markdown, so a backslash is not enough
for those: a zero-width space goes between the sign and the name.
"""

from __future__ import annotations

import re
import unicodedata

_BREAK = "&#8203;"  # zero-width space, as an entity so that a reader of the source sees it
_PUNCTUATION = re.compile(r"([\\`*_\[\]|~])")
_AT_START = re.compile(r"^([#+=-])|^(\d+)(?=[.)](?:\s|$))")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}
# After each of these a break goes: @name, #1, GH-1, https://, www., mailto:, :smile:
_SIGNS = re.compile(
    r"(@(?=\w)|(?:#|\bGH-)(?=\d)|:(?=//)|\bwww(?=\.)|\b(?:mailto|xmpp):|:(?=[\w+-]+:))", re.IGNORECASE
)
_UNFENCED = "<!\u200b--"
_FENCE = re.compile(r"<!--(?=\s*stackmerge)", re.IGNORECASE)
_GITHUB = re.compile(r"https://(?:www\.)?github\.com/(?=[\w.-]+/[\w.-]+/(?:pull|issues|commit|discussions)/)")
_AT_ENTITY = re.compile(r"&(?:#0*64|#x0*40|commat);", re.IGNORECASE)
_FOREIGN_NUMBER = re.compile(r"\b([\w.-]+/[\w.-]+)#(?=\d)")
_CODE = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)|(`+)(?!`).+?(?<!`)\2(?!`)", re.S | re.M
)


def visible(text: str, keep: str = "") -> str:
    """Control, bidirectional and other invisible characters written out, but for those in ``keep``."""
    if text.isprintable():  # nearly every text is, and C tells so at once
        return text
    return "".join(c if c in keep or not _hidden(c) else f"\\u{{{ord(c):x}}}" for c in text)


def _hidden(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def _one_line(text: str) -> str:
    return visible(re.sub(r"[\r\n\t ]+", " ", text)).strip()


def inline(text: object) -> str:
    """One line of plain text for a paragraph, a list item or a table cell."""
    parts = _SIGNS.split(_one_line(str(text)))
    pieces = ["".join(parts[i : i + 2]) for i in range(0, len(parts), 2)]
    found = _BREAK.join(_escaped(piece) for piece in pieces)
    return _AT_START.sub(lambda match: f"\\{match[1]}" if match[1] else f"{match[2]}\\", found)


def _escaped(text: str) -> str:
    return "".join(_ENTITIES.get(c, c) for c in _PUNCTUATION.sub(r"\\\1", text))


def code(text: object) -> str:
    """A code span, for a table cell too: nothing in it is a mention, a link or markup."""
    found = _one_line(str(text)).replace("|", "\\|")
    if not found:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", found)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if found.startswith("`") or found.endswith("`") else ""
    return f"{ticks}{pad}{_FENCE.sub(_UNFENCED, found)}{pad}{ticks}"


def block(text: str) -> str:
    """A fenced block of a log; its lines stay lines."""
    found = visible(text.replace("\r\n", "\n"), keep="\n\t").rstrip()
    longest = max((len(run) for run in re.findall(r"`{3,}", found)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}text\n{_FENCE.sub(_UNFENCED, found)}\n{ticks}"


def prose(text: str) -> str:
    """Markdown of the manifest's author: it stays Markdown, without HTML, mentions and links back."""
    found = visible(text.replace("\r\n", "\n"), keep="\n\t").strip()
    parts, at = [], 0
    for match in _CODE.finditer(found):
        parts += [_tamed(found[at : match.start()]), _closed(_FENCE.sub(_UNFENCED, match[0]), match[1])]
        at = match.end()
    return "".join([*parts, _tamed(found[at:])])


def _tamed(text: str) -> str:
    text = re.sub(r"<(?!https?://[^\s<>]+>)", "&lt;", text)
    text = _AT_ENTITY.sub("@", text)
    text = _GITHUB.sub("https://redirect.github.com/", text)
    text = _FOREIGN_NUMBER.sub(rf"\1#{_BREAK}", text)
    return re.sub(r"(?<![\w/])@(?=\w)", f"@{_BREAK}", text)


def _closed(text: str, fence: str | None) -> str:
    """A fenced block with its end, which its author may have forgotten."""
    ended = not fence or re.search(rf"\n {{0,3}}{re.escape(fence)}[`~]*[ \t]*\Z", text)
    return text if ended else f"{text}\n{fence}"
