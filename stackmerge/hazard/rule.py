"""A rule: it names one of the generic checks, or describes a clash by facts that are matched in the four trees.

docs/hazards.md is the reference of the format; `stackmerge.hazard.reading` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from stackmerge.hazard.patterns import literals, metavariables, union

KINDS = (
    "symbol_removed_vs_added_ref", "duplicate_definition", "lost_addition", "signature_changed_vs_new_call",
    "lint_delta", "double_applied", "changed_default", "unique_id",
)  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """Something that a file says: an ast-grep rule, and where it counts.

    ``within`` names the function to look in; with ``follow`` also in the functions that it calls. ``after``
    is a rule for a node of that function which must come first. ``unless_inside`` are rules for surroundings
    in which a match does not count, its own or those of the call that leads to it.
    """

    name: str
    rule: Mapping[str, object]
    within: str = ""
    follow: bool = False
    after: Mapping[str, object] | None = None
    unless_inside: tuple[Mapping[str, object], ...] = ()

    @cached_property
    def words(self) -> frozenset[str] | None:
        """A file without any of these words does not hold the fact; None where nothing is certain."""
        return literals(self.rule)

    @cached_property
    def metavariables(self) -> tuple[str, ...]:
        return tuple(sorted(set(metavariables(self.rule))))


@dataclass(frozen=True)
class Condition:
    """What one side must have done; all of it must hold."""

    adds: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    any: tuple[Condition, ...] = ()
    pr: str = ""

    @cached_property
    def needs_change(self) -> bool:
        """Can it hold only for a side that differs from the base?"""
        inner = bool(self.any) and all(one.needs_change for one in self.any)
        return bool(self.adds or self.removes) or inner

    def facts(self) -> set[str]:
        own = {*self.adds, *self.removes, *self.has, *self.lacks}
        return own.union(*(inner.facts() for inner in self.any))


@dataclass(frozen=True)
class Excuse:
    """A fact that makes a hazard harmless, where it comes ``before`` another one (empty: anywhere)."""

    fact: str
    before: str = ""


@dataclass(frozen=True)
class Clash:
    """The hazard itself: facts that hold together in one scope, and no excuse."""

    all: tuple[str, ...]
    none: tuple[Excuse, ...] = ()
    delta: str = "introduced"


@dataclass(frozen=True)
class Assertion:
    """What a merged file must hold: a regular expression or a pattern that must (not) be there, or be kept."""

    kind: str
    paths: tuple[str, ...]
    regex: str = ""
    pattern: str = ""
    severity: str = ""


@dataclass(frozen=True)
class Prescription:
    """What to do: words, a symbol's text to take from a side, symbols to delete, and gates to pass."""

    hint: str = ""
    resolve: tuple[tuple[str, str], ...] = ()
    delete: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """One rule. ``file`` is where it was read from; its fixtures are in the folder of the same name."""

    id: str
    severity: str
    title: str
    file: Path
    why: str = ""
    paths: tuple[str, ...] = ("**",)
    symbols: tuple[str, ...] = ()
    sides: Mapping[str, Condition] = field(default_factory=dict)
    language: str = ""
    scope: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    clash: Clash | None = None
    asserts: tuple[Assertion, ...] = ()
    prescribe: Prescription = Prescription()
    retire_when: tuple[tuple[str, str], ...] = ()
    check: str = ""

    @cached_property
    def words(self) -> frozenset[str] | None:
        """A file without any of these words holds none of the facts; None where nothing is certain."""
        return union(fact.words for fact in self.facts.values())

    @cached_property
    def needs_both(self) -> bool:
        """Does it match only where both sides changed the file?"""
        return len(self.sides) > 1 and all(condition.needs_change for condition in self.sides.values())

    @property
    def fixtures(self) -> Path:
        return self.file.with_suffix("")

    @property
    def symmetric(self) -> bool:
        """Does the rule say the same with the sides exchanged?"""
        return not {"ours", "theirs"} & self.sides.keys()

    @property
    def has_edits(self) -> bool:
        return bool(self.prescribe.resolve or self.prescribe.delete)
