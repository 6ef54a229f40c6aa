"""A rule of facts against one file of a step: does it match, does its hazard hold, do its assertions?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from stackmerge import globs
from stackmerge.hazard import facts as fact_finding
from stackmerge.hazard import parse, symbols
from stackmerge.hazard.facts import Facts, Joined
from stackmerge.hazard.patterns import fill_in, holds, literals
from stackmerge.hazard.rule import Assertion, Condition, Rule
from stackmerge.hazard.view import FileView, Unreadable

_WHOLE_LINES = 5000  # compiling more takes longer than all the rest; then only what was looked at
_STRAIGHT = ({"one": "ours", "other": "theirs"}, {"one": "theirs", "other": "ours"})


@dataclass(frozen=True)
class Broken:
    """An assertion that does not hold, with the lines that break it."""

    assertion: Assertion
    what: str
    lines: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What a rule says of one file.

    ``roles`` say which side is ``one`` and which ``other``, ``env`` what the metavariables are bound to in the
    sides; both are empty where the rule does not match. ``retired``: no side holds what the rule is about.
    """

    rule: Rule
    file: FileView
    matched: bool = False
    roles: Mapping[str, str] = field(default_factory=dict)
    envs: tuple[Mapping[str, str], ...] = ()
    fired: tuple[Joined, ...] = ()
    excused: bool = False
    broken: tuple[Broken, ...] = ()
    missing: tuple[str, ...] = ()
    retired: bool = False
    seen: str = ""


class Judge:
    """One rule at one file; each side's facts are found once."""

    def __init__(self, rule: Rule, file: FileView) -> None:
        self.rule = rule
        self.file = file
        self._facts: dict[object, Facts] = {}

    def facts(self, side: str) -> Facts:
        entry = getattr(self.file, side)
        if entry not in self._facts:
            self._facts[entry] = fact_finding.find(self.rule, self.file.text(side)) if entry else Facts()
        return self._facts[entry]

    def verdict(self) -> Verdict:
        """Raises Unreadable where a file cannot be looked into, or the rule is wrong."""
        none = Verdict(self.rule, self.file)
        if not any(self._changed_enough(roles) for roles in self._orientations()):
            return none
        if not globs.matches(self.file.path, self.rule.paths) or not self._may_match():
            return self._moved() if globs.matches(self.file.path, self.rule.paths) else none
        sides = ("ours", "theirs", "merged") if self.file.has_merged else ("ours", "theirs")
        there = [side for side in sides if getattr(self.file, side) is not None]
        missing = tuple(dict.fromkeys(gone for side in there for gone in self.facts(side).missing))
        if self._retired():
            return Verdict(self.rule, self.file, retired=True)
        for roles in self._orientations():
            if self._matches(roles):
                return self._matched(roles, missing)
        return Verdict(self.rule, self.file, missing=missing)

    def _orientations(self) -> tuple[Mapping[str, str], ...]:
        return _STRAIGHT if "one" in self.rule.sides else ({},)

    def _changed_enough(self, roles: Mapping[str, str]) -> bool:
        """Did every side that must have added or removed something change the file at all? Asked without reading."""
        return not any(
            condition.needs_change and getattr(self.file, roles.get(name, name)) == self.file.base
            for name, condition in self.rule.sides.items()
        )

    def _moved(self) -> Verdict:
        """Where one side took the file away and the other changed what the rule is about, it is elsewhere now."""
        file, words = self.file, (fact.words for fact in self.rule.facts.values())
        gone = (
            file.base is not None
            and None in (file.ours, file.theirs)
            and file.base not in (file.ours, file.theirs)
        )
        data = b"\n".join(file.data(side) for side in ("base", "ours", "theirs"))
        concerned = gone and file.ours != file.theirs and any(holds(data, word) for word in words)
        return Verdict(self.rule, file, missing=("the file",) if concerned else ())

    def _may_match(self) -> bool:
        """Could the hazard's facts hold, by the words that they need?"""
        sides = ("ours", "theirs", "merged")
        if self.file.base is not None and None in (self.file.ours, self.file.theirs):
            return False
        data = b"\n".join(self.file.data(side) for side in sides)
        return all(holds(data, words) for words in fact_finding.words_of(self.rule))

    def _retired(self) -> bool:
        for key, fact in self.rule.retire_when:
            sides = {"ours_lacks": ("ours",), "theirs_lacks": ("theirs",)}.get(key, ("ours", "theirs"))
            if not any(self.facts(side).of(fact) or self.facts(side).missing for side in sides):
                return True
        return False

    # -- the sides

    def _matches(self, roles: Mapping[str, str]) -> bool:
        for name, condition in self.rule.sides.items():
            if not self._holds(condition, roles.get(name, name)):
                return False
        return self._touches_symbols()

    def _holds(self, condition: Condition, side: str) -> bool:
        base, own = self.facts("base"), self.facts(side)
        return (
            all(own.keys(fact) - base.keys(fact) for fact in condition.adds)
            and all(base.keys(fact) - own.keys(fact) for fact in condition.removes)
            and all(own.of(fact) for fact in condition.has)
            and not any(own.of(fact) for fact in condition.lacks)
            and (not condition.any or any(self._holds(inner, side) for inner in condition.any))
        )

    def _touches_symbols(self) -> bool:
        rule = self.rule
        if not rule.symbols:
            return True
        wanted = set(rule.symbols)
        return any(
            wanted & symbols.changed(self.file, side, rule.language, rule.scope, rule.words)
            for side in ("ours", "theirs")
        )

    # -- the merged file

    def _matched(self, roles: Mapping[str, str], missing: tuple[str, ...]) -> Verdict:
        seen = self._seen(roles)
        envs = self._envs()
        verdict = Verdict(self.rule, self.file, True, roles, envs, missing=missing, seen=seen)
        if not self.file.has_merged:
            return verdict
        if self.file.merged is None:
            return Verdict(self.rule, self.file, True, roles, missing=("the file",), seen=seen)
        fired, excused = self.hazards("merged")
        assert self.rule.clash is not None
        if self.rule.clash.delta == "introduced":
            known = {j.key for side in ("ours", "theirs") for j in self.hazards(side)[0]}
            fired = tuple(joined for joined in fired if joined.key not in known)
        broken = () if fired or excused else self._broken(envs)
        if not fired and not broken and self.rule.language == "python":
            self._refuse_invalid()
        return Verdict(self.rule, self.file, True, roles, envs, fired, excused, broken, missing, seen=seen)

    def hazards(self, side: str) -> tuple[tuple[Joined, ...], bool]:
        """Where the hazard holds in a side, and whether an excuse kept it from holding somewhere."""
        clash = self.rule.clash
        assert clash is not None
        found = self.facts(side)
        each = fact_finding.join(found, clash.all)
        fired = tuple(
            j for j in each if not any(fact_finding.excused(found, j, excuse) for excuse in clash.none)
        )
        return fired, len(fired) < len(each)

    def _refuse_invalid(self) -> None:
        """Silence about a file that is no Python would be a false answer."""
        text = self.file.text("merged")
        whole = text.count("\n") < _WHOLE_LINES
        regions = parse.regions(text, "python", self.rule.scope, self.rule.words)
        for part in [text] if whole else [region.text for region in regions]:
            problem = parse.python_problem(part)
            if problem:
                raise Unreadable(problem)

    def _envs(self) -> tuple[Mapping[str, str], ...]:
        """What the hazard's metavariables are bound to by the sides' facts, taken together."""
        assert self.rule.clash is not None
        both = Facts((*self.facts("ours").matches, *self.facts("theirs").matches))
        return tuple(joined.env for joined in fact_finding.join(both, self.rule.clash.all))

    def _seen(self, roles: Mapping[str, str]) -> str:
        """Which side does what, in words."""
        parts = []
        for name, condition in self.rule.sides.items():
            side = roles.get(name, name)
            holding = [condition, *(inner for inner in condition.any if self._holds(inner, side))]
            words = [f"adds {fact}" for one in holding for fact in one.adds]
            words += [f"removes {fact}" for one in holding for fact in one.removes]
            parts.append(f"{side} {' and '.join(words) or 'matches'}")
        return "; ".join(parts)

    # -- assertions

    def _broken(self, envs: tuple[Mapping[str, str], ...]) -> tuple[Broken, ...]:
        found: dict[Broken, None] = {}
        for assertion in self.rule.asserts:
            if assertion.paths and not globs.matches(self.file.path, assertion.paths):
                continue
            for env in envs or ({},):
                broken = self._break(assertion, env)
                if broken:
                    found[broken] = None
        return tuple(found)

    def _break(self, assertion: Assertion, env: Mapping[str, str]) -> Broken | None:
        lines = self._where(assertion, env, "merged")
        what = fill_in(assertion.regex or assertion.pattern, env)
        if assertion.kind == "must_not_exist":
            return Broken(assertion, f"`{what}` must not be there", lines) if lines else None
        if lines:
            return None
        if assertion.kind == "must_exist":
            return Broken(assertion, f"`{what}` must be there")
        kept = [side for side in ("ours", "theirs") if self._where(assertion, env, side)]
        return Broken(assertion, f"`{what}` of {kept[0]} was lost") if kept else None

    def _where(self, assertion: Assertion, env: Mapping[str, str], side: str) -> tuple[tuple[int, str], ...]:
        text = self.file.text(side)
        lines = text.split("\n")
        if assertion.regex:
            pattern = re.compile(fill_in(assertion.regex, {k: re.escape(v) for k, v in env.items()}))
            return tuple((n, line.strip()) for n, line in enumerate(lines, 1) if pattern.search(line))
        rule = {"pattern": fill_in(assertion.pattern, env)}
        if not holds(text.encode(), literals(rule)):
            return ()
        nodes = parse.find_all(parse.root(text, self.rule.language), rule)
        return tuple((n.range().start.line + 1, n.text().split("\n")[0]) for n in nodes)
