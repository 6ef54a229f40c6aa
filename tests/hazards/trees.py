"""Small merges for rules to look at: trees of a scratch repository, made of dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pygit2

from stackmerge.hazard.finding import Finding, Sides
from stackmerge.hazard.library import Rules, load
from stackmerge.hazard.evaluate import check
from stackmerge.objects import EMPTY_TREE, Objects
from stackmerge.rawtree import Entry

Files = Mapping[str, str | bytes]


class Scratch:
    """A repository of a test's own, with the shipped rules."""

    def __init__(self, folder: Path) -> None:
        self.objects = Objects(pygit2.init_repository(str(folder / "scratch.git"), bare=True))
        self.rules: Rules = load([])

    def tree(self, files: Files) -> str:
        entries: dict[str, Entry | None] = {}
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            entries[name] = Entry(0o100644, self.objects.write_blob(data))
        return self.objects.edit(EMPTY_TREE, entries)

    def sides(self, base: Files, ours: Files, theirs: Files, merged: Files | None) -> Sides:
        result = None if merged is None else self.tree(merged)
        return Sides(self.tree(base), self.tree(ours), self.tree(theirs), result)

    def ask(
        self, base: Files, ours: Files, theirs: Files, merged: Files | None, rule: str = ""
    ) -> list[Finding]:
        """What the rules say of a merge, asked both ways round, which must give the same answer."""
        rules = self.rules.only(rule) if rule else self.rules
        one = check(self.objects, self.sides(base, ours, theirs, merged), rules, step="step")
        other = check(self.objects, self.sides(base, theirs, ours, merged), rules, step="step")
        assert _words(one) == _words(other)
        return list(one)

    def said(
        self, base: Files, ours: Files, theirs: Files, merged: Files | None, rule: str = ""
    ) -> set[tuple[str, str]]:
        """The answer in short: pairs of a rule and how sure it is."""
        return _words(self.ask(base, ours, theirs, merged, rule))


def _words(findings: object) -> set[tuple[str, str]]:
    assert isinstance(findings, list | tuple)
    return {
        (f.rule, f.severity if f.disposition == "found" else f.disposition)
        for f in findings
        if isinstance(f, Finding)
    }
