"""Facts: what a file says, matched by ast-grep, and joined where their metavariables agree.

One large pattern misses or misfires, since metavariables bind greedily; so each fact is matched by itself, in
its scope and function, and the join is ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from stackmerge.hazard import languages, parse
from stackmerge.hazard.patterns import holds
from stackmerge.hazard.rule import Excuse, Fact, Rule

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_DEPTH = 3
_LEAVES = ("return", "raise", "throw")
_MOST = 400


@dataclass(frozen=True)
class Match:
    """One place where a fact holds. ``at`` orders it in the function that its fact names."""

    fact: str
    scope: str
    line: int
    text: str
    at: int
    env: Mapping[str, str] = field(compare=False)

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """What makes it the same fact on another side, wherever it stands there."""
        return tuple(sorted(self.env.items()))


@dataclass(frozen=True)
class Facts:
    """The matches of one file, and the functions that the facts name and the file lacks."""

    matches: tuple[Match, ...] = ()
    missing: tuple[str, ...] = ()

    def of(self, fact: str) -> list[Match]:
        return [match for match in self.matches if match.fact == fact]

    def keys(self, fact: str) -> Counter[tuple[tuple[str, str], ...]]:
        return Counter(match.key for match in self.of(fact))


@dataclass(frozen=True)
class Site:
    """A function in which a fact counts, and the calls that lead to it from the function that the fact names."""

    span: tuple[int, int]
    calls: tuple[SgNode, ...] = ()


class Scope:
    """One class, say, with its functions and calls. Each rule is matched once, whatever is asked of it."""

    def __init__(self, name: str, node: SgNode, language: str) -> None:
        self.name = name
        self._node = node
        self._language = language
        kinds = languages.FUNCTIONS.get(language, ())
        # Of functions with one name the last, which is the one that counts.
        self.functions = {parse.name_of(f): _span(f) for f in parse.definitions(node, kinds)}

    def find(self, rule: Mapping[str, object], span: tuple[int, int] | None = None) -> list[SgNode]:
        found = self._found.setdefault(id(rule), [])
        if not found:
            found.append(parse.find_all(self._node, rule))
        return found[0] if span is None else [node for node in found[0] if _is_in(_span(node), span)]

    @cached_property
    def _found(self) -> dict[int, list[list[SgNode]]]:
        return {}

    @cached_property
    def _calls(self) -> list[tuple[str, SgNode]]:
        """The calls of functions of this scope."""
        found = []
        for call in parse.find_all(self._node, {"kind": languages.CALLS[self._language]}):
            target = call.field("function")
            name = target.text().removeprefix("self.").removeprefix("this.") if target is not None else ""
            if name in self.functions:
                found.append((name, call))
        return found

    def sites(self, fact: Fact) -> list[Site]:
        """Where a fact may hold."""
        if not fact.within:
            return [Site(_span(self._node))]
        owner, _, name = fact.within.rpartition(".")
        if name not in self.functions or owner not in ("", self.name):
            return []
        own = Site(self.functions[name])
        return list(islice(self._reach(own, (name,)), _MOST)) if fact.follow else [own]

    def _reach(self, site: Site, path: tuple[str, ...]) -> Iterator[Site]:
        """A function, and what it calls in its own scope, a few calls deep."""
        yield site
        if len(path) > _DEPTH:
            return
        for name, call in self._calls:
            if name not in path and _is_in(_span(call), site.span):
                yield from self._reach(Site(self.functions[name], (*site.calls, call)), (*path, name))


def _span(node: SgNode) -> tuple[int, int]:
    there = node.range()
    return there.start.index, there.end.index


def _is_in(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def words_of(rule: Rule) -> list[frozenset[str] | None]:
    """For each fact of the hazard, the words of which a file must hold one."""
    assert rule.clash is not None
    return [rule.facts[name].words for name in rule.clash.all]


def find(rule: Rule, text: str) -> Facts:
    """Every match of the rule's facts in ``text``. Raises Unreadable."""
    data = text.encode()
    if not any(holds(data, fact.words) for fact in rule.facts.values()):
        return Facts()
    found: list[Match] = []
    seen: set[str] = set()
    for region in parse.regions(text, rule.language, rule.scope, rule.words):
        for scope in _scopes(parse.root(region.text, rule.language), rule):
            seen |= scope.functions.keys() | {f"{scope.name}.{name}" for name in scope.functions}
            for fact in rule.facts.values():
                if holds(data, fact.words):
                    found += _matches(fact, scope, region.first)
                seen |= _reached(fact, scope)
    return Facts(tuple(found), _missing(rule, seen))


def _missing(rule: Rule, seen: set[str]) -> tuple[str, ...]:
    """What the facts of the hazard lean on and the file lacks."""
    assert rule.clash is not None
    facts = [rule.facts[name] for name in rule.clash.all]
    gone = [fact.within for fact in facts if fact.within and fact.within not in seen]
    gone += [
        _after(fact) for fact in facts if fact.after and fact.within in seen and _after(fact) not in seen
    ]
    return tuple(dict.fromkeys(gone))


def _after(fact: Fact) -> str:
    rule = fact.after or {}
    return f"{rule.get('kind') or rule.get('pattern') or rule.get('regex') or 'its anchor'} in {fact.within}"


def _reached(fact: Fact, scope: Scope) -> set[str]:
    span = scope.functions.get(fact.within.rpartition(".")[2])
    there = fact.after is not None and span is not None and scope.find(fact.after, span)
    return {_after(fact)} if there else set()


def _scopes(root: SgNode, rule: Rule) -> Iterator[Scope]:
    if not rule.scope:
        yield Scope("", root, rule.language)
        return
    for node in parse.definitions(root, (rule.scope,)):
        yield Scope(parse.name_of(node), node, rule.language)


def _matches(fact: Fact, scope: Scope, first: int) -> Iterator[Match]:
    for site in scope.sites(fact):
        for found in scope.find(fact.rule, site.span):
            at = _span(site.calls[0] if site.calls else found)[0]
            if _counts(fact, found, site, at, scope):
                line = first + found.range().start.line
                yield Match(fact.name, scope.name, line, found.text().split("\n")[0], at, _env(found, fact))


def _counts(fact: Fact, found: SgNode, site: Site, at: int, scope: Scope) -> bool:
    if fact.after is not None:
        span = scope.functions[fact.within.rpartition(".")[2]]
        if not any(_span(node)[1] <= at and _goes_on(node, at) for node in scope.find(fact.after, span)):
            return False
    surroundings = [{"inside": {**rule, "stopBy": "end"}} for rule in fact.unless_inside]
    return not any(parse.matches(node, rule) for node in (found, *site.calls) for rule in surroundings)


def _goes_on(node: SgNode, at: int) -> bool:
    """Is the place ``at`` reached from ``node``, or does a block that ends in between leave the function?"""
    for outer in node.ancestors():
        first, last = _span(outer)
        if first <= at < last:
            return True
        inner = [child for child in outer.children() if child.is_named()] if "block" in outer.kind() else []
        if inner and inner[-1].kind().startswith(_LEAVES):
            return False
    return True


def _env(found: SgNode, fact: Fact) -> dict[str, str]:
    bound = {name: found.get_match(name) for name in fact.metavariables}
    return {name: node.text() for name, node in bound.items() if node is not None}


@dataclass(frozen=True)
class Joined:
    """Facts that hold together: one match each, in one scope, with one value for each metavariable they share."""

    matches: tuple[Match, ...]
    env: Mapping[str, str] = field(compare=False)
    key: tuple[tuple[str, str], ...] = ()


def join(found: Facts, names: Sequence[str]) -> list[Joined]:
    """Every way in which facts hold together; one for each binding of the metavariables that they share."""
    partial: list[tuple[tuple[Match, ...], dict[str, str]]] = [((), {})]
    for name in names:
        partial = [
            ((*matches, match), {**env, **match.env})
            for matches, env in partial
            for match in found.of(name)
            if all(match.scope == m.scope for m in matches) and agree(env, match.env)
        ][:_MOST]
    shared = _shared(found, names)
    results: dict[tuple[tuple[str, str], ...], Joined] = {}
    for matches, env in partial if names else []:
        key = tuple((name, env[name]) for name in shared if name in env)
        results.setdefault(key, Joined(matches, env, key))
    return list(results.values())


def _shared(found: Facts, names: Iterable[str]) -> list[str]:
    """Metavariables that more than one of the facts binds."""
    counts = Counter(name for fact in names for name in {n for match in found.of(fact) for n in match.env})
    return sorted(name for name, count in counts.items() if count > 1)


def agree(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return all(one.get(name, value) == value for name, value in other.items())


def excused(found: Facts, joined: Joined, excuse: Excuse) -> bool:
    """Does a fact make this hazard harmless?"""
    scope = joined.matches[0].scope
    marks = [m for m in joined.matches if m.fact == excuse.before]
    return any(
        match.scope == scope
        and agree(joined.env, match.env)
        and (not excuse.before or any(match.at < mark.at for mark in marks))
        for match in found.of(excuse.fact)
    )
