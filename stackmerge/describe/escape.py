"""Text of strangers made harmless in Markdown: it renders as the text it is, pings nobody and links to nothing.

GitHub links mentions, numbers and addresses after it has rendered the Markdown, so a backslash is not enough
for those: a zero-width space goes between the sign and the name.
"""

from __future__ import annotations

import re
import unicodedata

from stackmerge.describe import spans

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
# Addresses keep their @; GitHub takes a name after every other sign, and after _, for a mention.
_MENTION = re.compile(
    r"((?<!\w)(?:https?://|www\.)[a-z0-9-]+(?:\.[a-z0-9-]+)+[/:][^\s<>()\[\]]*)|(?<![^\W_])@(?=[\w&])",
    re.IGNORECASE,
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
    found = _one_line(str(text))
    if "|" in found:  # between backticks it is written otherwise in a table than out of it
        return f"<code>{inline(found)}</code>"
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
    return "".join(
        _FENCE.sub(_UNFENCED, piece) if code else _tamed(piece) for piece, code in spans.pieces(found)
    )


def _tamed(text: str) -> str:
    text = re.sub(r"<(?!https?://[^\s<>]+>)", "&lt;", text)
    text = _AT_ENTITY.sub("@", text)
    text = _GITHUB.sub("https://redirect.github.com/", text)
    text = _FOREIGN_NUMBER.sub(rf"\1#{_BREAK}", text)
    return _MENTION.sub(lambda found: found[1] or f"@{_BREAK}", text)
