"""The sections of a body: each between two comments of ours, everything else a person's.

A comment at the end holds the state: for each section a digest of what we wrote there last, so that a section
that reads differently now is known to have been edited.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stackmerge.errors import StackmergeError

_LINE = re.compile(r"^<!-- stackmerge:(begin|end) ([a-z-]+) -->[ \t]*$", re.MULTILINE)
_STATE = re.compile(r"\n*^<!-- stackmerge:state ([A-Za-z0-9+/=]*) -->[ \t]*$\n?", re.MULTILINE)


@dataclass(frozen=True)
class Body:
    """A body taken apart. ``parts`` are text of a person (str) and the names of sections, in order."""

    parts: tuple[tuple[str, str], ...]
    sections: Mapping[str, str]
    state: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Merged:
    """A body to be written, and the sections that were kept because a person edited them."""

    text: str
    kept: tuple[str, ...] = ()


def begin(name: str) -> str:
    return f"<!-- stackmerge:begin {name} -->"


def end(name: str) -> str:
    return f"<!-- stackmerge:end {name} -->"


def normal(text: str) -> str:
    """Line ends as we write them; a web editor sends CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def digest(text: str) -> str:
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:16]


def parse(text: str, where: str = "the body") -> Body:
    """Take a body apart. Raises StackmergeError, naming ``where``, for fences that are double, crossed or alone."""
    text = normal(text)
    state = _read_state(text)
    text = _STATE.sub("\n", text)
    parts: list[tuple[str, str]] = []
    found: dict[str, str] = {}
    at, opened = 0, ""
    for match in _LINE.finditer(text):
        kind, name = match[1], match[2]
        if (kind == "begin") == bool(opened) or (kind == "end" and name != opened) or name in found:
            raise _broken(where, kind, name)
        inner = text[at : match.start()]
        if kind == "begin":
            parts.append(("text", inner))
            opened = name
        else:
            found[name] = inner.strip("\n")
            parts.append(("section", name))
            opened = ""
        at = match.end()
    if opened:
        raise _broken(where, "begin", opened)
    parts.append(("text", text[at:]))
    return Body(tuple(parts), found, state)


def _broken(where: str, kind: str, name: str) -> StackmergeError:
    return StackmergeError(
        f"{where}: the comment `stackmerge:{kind} {name}` is there twice, or without its other half",
        "edit the description: one pair a section; or remove them all and what is between them",
    )


def _read_state(text: str) -> dict[str, str]:
    """The digests of what was written last; empty where the comment is missing or damaged."""
    for match in _STATE.finditer(text):
        try:
            found = json.loads(base64.b64decode(match[1], validate=True))
            return {str(key): str(value) for key, value in found["sections"].items()}
        except (binascii.Error, ValueError, KeyError, TypeError, AttributeError):
            continue
    return {}


def _state_comment(state: Mapping[str, str]) -> str:
    filled = {name: value for name, value in state.items() if value != digest("")}
    packed = json.dumps({"version": 1, "sections": filled}, sort_keys=True, separators=(",", ":"))
    return f"<!-- stackmerge:state {base64.b64encode(packed.encode()).decode()} -->"


def assemble(parts: Sequence[tuple[str, str]], sections: Mapping[str, str], state: Mapping[str, str]) -> str:
    """The text of a body: one blank line between its pieces, the state last."""
    pieces = []
    for kind, value in parts:
        if kind == "section":
            inner = sections[value].strip("\n")
            pieces.append(
                f"{begin(value)}\n{inner}\n{end(value)}" if inner else f"{begin(value)}\n{end(value)}"
            )
        elif value.strip():
            pieces.append(value.strip("\n"))
    return "\n\n".join([*pieces, _state_comment(state)]) + "\n"


def fresh(rendered: Body) -> Merged:
    """The first body of a pull request."""
    state = {name: digest(text) for name, text in rendered.sections.items()}
    return Merged(assemble(rendered.parts, rendered.sections, state))


def merge(there: Body, rendered: Body, known: Mapping[str, str] | None = None) -> Merged:
    """Put new sections into a body that is there, touching nothing that a person wrote or edited.

    ``known`` are the digests from our own record, for a body whose state comment is gone.
    """
    last = dict(there.state) or dict(known or {})
    sections, state, kept = dict(there.sections), dict(last), []
    for name, text in rendered.sections.items():
        now = there.sections.get(name)
        if now is not None and digest(now) not in (last.get(name, digest("")), digest(text)):
            kept.append(name)
            continue
        sections[name] = text
        state[name] = digest(text)
    present = {value for kind, value in there.parts if kind == "section"}
    added = tuple(("section", name) for name in rendered.sections if name not in present)
    return Merged(assemble([*there.parts, *added], sections, state), tuple(kept))
