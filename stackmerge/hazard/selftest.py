"""Prove a rule on its own fixtures: a merge, with a result that the rule must name and one that it must not.

A fixture is five small trees in the rule's folder: base, ours, theirs, bad and good. The rule is silent on
base, ours, theirs and good, fires on bad, and its edits make good out of bad, byte for byte; with the sides
exchanged as well, unless the rule tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from stackmerge.errors import StackmergeError
from stackmerge.hazard.clash import Judge
from stackmerge.hazard.edits import apply_edits
from stackmerge.hazard.evaluate import check
from stackmerge.hazard.finding import FOUND, Finding, Sides
from stackmerge.hazard.library import Rules
from stackmerge.hazard.rule import Rule
from stackmerge.hazard.view import Unreadable, View
from stackmerge.libgit2 import pygit2
from stackmerge.objects import EMPTY_TREE, Objects
from stackmerge.rawtree import Entry

TREES = ("base", "ours", "theirs", "bad", "good")
_EXECUTABLE = 0o111


@dataclass(frozen=True)
class Proved:
    """How the proof of a rule went; it holds when there are no ``problems``."""

    rule: Rule
    problems: tuple[str, ...]


def prove(rules: Rules) -> list[Proved]:
    """Prove every rule on its fixtures."""
    with TemporaryDirectory(prefix="stackmerge-hazards-") as name:
        objects = Objects(pygit2.init_repository(name, bare=True))
        return [Proved(rule, tuple(_problems(objects, rules.only(rule.id), rule))) for rule in rules]


def import_tree(objects: Objects, folder: Path) -> str:
    """The files below a folder as a tree, less what Python leaves behind where somebody imports them."""
    changes: dict[str, Entry | None] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            mode = 0o100755 if path.stat().st_mode & _EXECUTABLE else 0o100644
            changes[str(path.relative_to(folder))] = Entry(mode, objects.write_blob(path.read_bytes()))
    return objects.edit(EMPTY_TREE, changes)


def _problems(objects: Objects, rules: Rules, rule: Rule) -> Iterator[str]:
    missing = [name for name in TREES if not (rule.fixtures / name).is_dir()]
    if missing:
        yield f"its fixtures are missing: {', '.join(f'{rule.fixtures.name}/{name}' for name in missing)}"
        return
    trees = {name: import_tree(objects, rule.fixtures / name) for name in TREES}
    yield from _of_sides(objects, rules, rule, trees, "")
    if rule.symmetric:
        exchanged = {**trees, "ours": trees["theirs"], "theirs": trees["ours"]}
        yield from _of_sides(objects, rules, rule, exchanged, ", with the sides exchanged")


def _of_sides(
    objects: Objects, rules: Rules, rule: Rule, trees: Mapping[str, str], how: str
) -> Iterator[str]:
    for name in ("base", "ours", "theirs"):
        alone = _sides(trees, trees[name], ours=name, theirs="base")
        for finding in _findings(objects, rules, rule, alone):
            yield f"it is not silent on {name}{how}: {finding.reason}"
    for name in ("base", "ours", "theirs", "good") if rule.clash else ():
        yield from _holds_in(objects, rule, _sides(trees, trees[name]), f"{name}{how}")
    for finding in _findings(objects, rules, rule, _sides(trees, trees["good"])):
        yield f"it is not silent on good{how}: {finding.reason}"
    bad = _sides(trees, trees["bad"])
    if not any(
        f.disposition == FOUND and f.severity == rule.severity for f in _findings(objects, rules, rule, bad)
    ):
        yield f"it does not fire on bad{how}"
    elif rule.has_edits:
        yield from _edit(objects, rule, bad, trees["good"], how)


def _sides(trees: Mapping[str, str], merged: str, ours: str = "ours", theirs: str = "theirs") -> Sides:
    return Sides(trees["base"], trees[ours], trees[theirs], merged)


def _findings(objects: Objects, rules: Rules, rule: Rule, sides: Sides) -> list[Finding]:
    return [f for f in check(objects, sides, rules, step="") if f.rule == rule.id]


def _holds_in(objects: Objects, rule: Rule, sides: Sides, name: str) -> Iterator[str]:
    """The hazard itself must not hold, whatever each side added."""
    view = View(objects, sides)
    try:
        for file in view.files():
            if Judge(rule, file).hazards("merged")[0]:
                yield f"its hazard holds in {name}"
    except Unreadable as error:
        yield f"it cannot be asked about {name}: {error}"


def _edit(objects: Objects, rule: Rule, sides: Sides, good: str, how: str) -> Iterator[str]:
    try:
        made = apply_edits(objects, sides, rule)
    except StackmergeError as error:
        yield f"its edits cannot be made{how}: {error.message}"
        return
    different = sorted(objects.diff(made, good))
    if different:
        yield f"its edits do not make good out of bad{how}: {', '.join(different)} differs"
