"""What a rule is asked about, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

SEVERITIES = ("block", "warn", "note")
FOUND, ALLOWED, NOT_CHECKED = "found", "allowed", "not checked"


class Sides(NamedTuple):
    """The trees of a step by id. ``merged`` is None before the merge, or while it is unresolved."""

    base: str
    ours: str
    theirs: str
    merged: str | None


class Allow(NamedTuple):
    """A person's word that a rule does not apply to a step, and why."""

    rule: str
    reason: str


class Finding(NamedTuple):
    """One answer of one rule at one path.

    ``lines`` are line numbers (from 1) with their text, of the merged file where there is one. ``reason``
    says what was seen; for an allowed finding why it is allowed, and for one not checked why not.
    """

    rule: str
    severity: str
    title: str
    path: str
    lines: tuple[tuple[int, str], ...] = ()
    hint: str = ""
    disposition: str = FOUND
    reason: str = ""
    gates: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, found: Mapping[str, object]) -> Finding:
        known = {key: value for key, value in found.items() if key in cls._fields}
        known["lines"] = tuple((int(n), str(text)) for n, text in known.get("lines", ()))  # type: ignore[attr-defined]
        known["gates"] = tuple(known.get("gates", ()))  # type: ignore[arg-type]
        return cls(**known)  # type: ignore[arg-type]


class Examined(NamedTuple):
    """What the rules say of a step. ``matched`` are the rules that it concerns, and ``gates`` those they ask for.

    A rule that matches and stays silent, since the merge is right, asks for its gates all the same.
    """

    findings: tuple[Finding, ...] = ()
    matched: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()


def blocks(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that stop a rebuild."""
    return [f for f in findings if f.severity == "block" and f.disposition == FOUND]


def allowed(finding: Finding, allow: Iterable[Allow]) -> Finding:
    """The finding, marked where a person allowed its rule."""
    for one in allow:
        if one.rule == finding.rule and finding.disposition == FOUND:
            return finding._replace(disposition=ALLOWED, reason=one.reason)
    return finding


def order(finding: Finding) -> tuple[int, str, str]:
    """Sorts what blocks first."""
    return SEVERITIES.index(finding.severity), finding.rule, finding.path
