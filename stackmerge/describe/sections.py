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

_LINE = re.compile(
    r"^<!-- stackmerge:(?:(begin|end) ([a-z-]+)|state ([A-Za-z0-9+/=]*)) -->[ \t]*$", re.MULTILINE
)
TEXT, SECTION, STATE = "text", "section", "state"


@dataclass(frozen=True)
class Body:
    """A body taken apart. ``parts`` in order: text of a person, the name of a section, or where the state stands."""

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
    parts: list[tuple[str, str]] = []
    found: dict[str, str] = {}
    state: dict[str, str] = {}
    at, opened = 0, ""
    for match in _LINE.finditer(text):
        kind, name, inner = match[1] or STATE, match[2] or "", text[at : match.start()]
        if kind == STATE and opened:
            raise _broken(where, "begin", opened)
        if kind != STATE and (
            (kind == "begin") == bool(opened) or (opened and name != opened) or name in found
        ):
            raise _broken(where, kind, name)
        if kind == "end":
            found[name] = inner.strip("\n")
            parts.append((SECTION, name))
        else:
            parts.append((TEXT, inner))
        if kind == STATE:
            parts += [(STATE, "")] if not state else []
            state = state or _read_state(match[3])
        opened = name if kind == "begin" else ""
        at = match.end()
    if opened:
        raise _broken(where, "begin", opened)
    return Body((*parts, (TEXT, text[at:])), found, state)


def _broken(where: str, kind: str, name: str) -> StackmergeError:
    return StackmergeError(
        f"{where}: the comment `stackmerge:{kind} {name}` is there twice, or without its other half",
        "edit the description: one pair a section; or remove them all and what is between them",
    )


def _read_state(packed: str) -> dict[str, str]:
    """The digests of what was written last; empty where they are damaged."""
    try:
        found = json.loads(base64.b64decode(packed, validate=True))
        return {str(key): str(value) for key, value in found["sections"].items()}
    except (binascii.Error, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _state_comment(state: Mapping[str, str]) -> str:
    filled = {name: value for name, value in state.items() if value != digest("")}
    packed = json.dumps({"version": 1, "sections": filled}, sort_keys=True, separators=(",", ":"))
    return f"<!-- stackmerge:state {base64.b64encode(packed.encode()).decode()} -->"


def _section(name: str, inner: str) -> str:
    return f"{begin(name)}\n{inner}\n{end(name)}" if inner.strip("\n") else f"{begin(name)}\n{end(name)}"


def fresh(rendered: Body, title: str = "") -> Merged:
    """The first body of a pull request; ``title`` is remembered like a section."""
    return merge(Body((), {}), rendered, title)


def merge(there: Body, rendered: Body, title: str = "") -> Merged:
    """Put new sections into a body that is there, touching nothing that a person wrote or edited."""
    sections, state, kept = dict(there.sections), dict(there.state), []
    for name, text in rendered.sections.items():
        now = there.sections.get(name)
        if now is not None and digest(now) not in (state.get(name, digest("")), digest(text)):
            kept.append(name)
            continue
        sections[name] = text
        state[name] = digest(text)
    if title:
        state["title"] = digest(title)
    return Merged(_text(_placed(there, rendered), sections, state), tuple(kept))


def _placed(there: Body, rendered: Body) -> list[tuple[str, str]]:
    """Where everything goes: what is there stays where it is, what is missing comes after it, the state is last."""
    if not any(kind == SECTION or value.strip() for kind, value in there.parts):
        own = [part for part in rendered.parts if part[0] == SECTION or part[1].strip()]
        spaced = [piece for part in own for piece in (part, (TEXT, "\n\n"))]
        return [*spaced, (STATE, "")]
    present = {value for kind, value in there.parts if kind == SECTION}
    parts = list(there.parts)
    at = next((i for i, part in enumerate(parts) if part[0] == STATE), len(parts))
    if at == len(parts):
        parts += [(TEXT, "\n\n"), (STATE, "")]
        at += 1
    for name in rendered.sections:
        if name not in present:
            parts[at:at] = [(SECTION, name), (TEXT, "\n\n")]
            at += 2
    return parts


def _text(parts: Sequence[tuple[str, str]], sections: Mapping[str, str], state: Mapping[str, str]) -> str:
    made = []
    for kind, value in parts:
        if kind == SECTION:
            made.append(_section(value, sections[value]))
        else:
            made.append(_state_comment(state) if kind == STATE else value)
    return "".join(made)
