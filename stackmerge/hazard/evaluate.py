"""Ask the rules about one step. Pure: reads objects, prints nothing, moves nothing, starts no git."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from stackmerge import globs
from stackmerge.errors import UsageError
from stackmerge.hazard.clash import Judge, Verdict
from stackmerge.hazard.facts import Joined
from stackmerge.hazard.finding import NOT_CHECKED, Allow, Examined, Finding, Sides, allowed, order
from stackmerge.hazard.library import Rules
from stackmerge.hazard.patterns import fill_in
from stackmerge.hazard.rule import Rule
from stackmerge.hazard.view import FileView, Unreadable, View
from stackmerge.objects import Objects
from stackmerge.rawtree import Entry

_MANY = 20


def check(
    objects: Objects, sides: Sides, rules: Rules, *, step: str, allow: Sequence[Allow] = ()
) -> tuple[Finding, ...]:
    """Every finding of the rules in one step, what blocks first.

    With ``sides.merged`` None the sides alone are asked, and nothing blocks: nobody has resolved it yet.
    Raises UsageError where a rule file is malformed, or where ``allow`` names a rule that does not exist; the
    message names the ``step``.
    """
    return examine(objects, sides, rules, step=step, allow=allow).findings


def examine(
    objects: Objects, sides: Sides, rules: Rules, *, step: str, allow: Sequence[Allow] = ()
) -> Examined:
    """As `check`, with the rules that the step concerns and their gates."""
    for one in allow:
        if one.rule not in {rule.id for rule in rules}:
            raise UsageError(
                f"{step}: `allow` names {one.rule!r}, which is no rule", "see `stackmerge hazards list`"
            )
    view = View(objects, sides)
    verdicts = [verdict for rule in rules if rule.clash for verdict in _verdicts(rule, view)]
    found = [f for verdict in verdicts for f in _findings_or_reason(verdict, view)]
    found += _generic(rules, view, _deliberate(verdicts))
    found = sorted((allowed(f, allow) for f in found), key=order)
    concerned = [v.rule for v in verdicts if isinstance(v, Verdict) and v.matched]
    concerned += [rules.get(f.rule) for f in found if f.disposition != NOT_CHECKED]
    return Examined(
        tuple(found),
        tuple(sorted({rule.id for rule in concerned})),
        tuple(sorted({gate for rule in concerned for gate in rule.prescribe.gates})),
    )


def verdicts(objects: Objects, sides: Sides, rule: Rule) -> Iterator[Verdict]:
    """What a rule of facts says of each file of a step. Raises Unreadable."""
    view = View(objects, sides)
    for file in _files(rule, view):
        yield Judge(rule, file).verdict()


def _files(rule: Rule, view: View) -> Iterator[FileView]:
    paths = view.theirs_changed if rule.needs_both else view.paths
    for path in paths:
        if not globs.matches(path, rule.paths) or (rule.needs_both and not view.both_changed(path)):
            continue
        if _any_file(view.file(path)):
            yield view.file(path)


def _any_file(file: FileView) -> bool:
    entries: tuple[Entry | None, ...] = (file.base, file.ours, file.theirs, file.merged)
    return any(entry and entry.is_file for entry in entries)


def _verdicts(rule: Rule, view: View) -> Iterator[Verdict | tuple[Rule, str, str]]:
    for file in _files(rule, view):
        try:
            yield Judge(rule, file).verdict()
        except Unreadable as error:
            yield rule, file.path, str(error)


def _findings_or_reason(verdict: Verdict | tuple[Rule, str, str], view: View) -> Iterator[Finding]:
    if isinstance(verdict, tuple):
        yield not_checked(*verdict)
    else:
        yield from findings(verdict, before=view.before)


def not_checked(rule: Rule, path: str, reason: str) -> Finding:
    return Finding(rule.id, "note", rule.title, path, disposition=NOT_CHECKED, reason=reason)


def findings(verdict: Verdict, *, before: bool) -> Iterator[Finding]:
    """A verdict as findings."""
    rule, path = verdict.rule, verdict.file.path
    if verdict.matched and before:
        yield _from_sides(verdict)
    for joined in verdict.fired:
        yield _finding(verdict, rule.severity, _lines(joined), verdict.seen, joined)
    for broken in verdict.broken:
        severity = broken.assertion.severity or rule.severity
        yield _finding(verdict, severity, broken.lines[:_MANY], broken.what, None)
    if verdict.missing and not (verdict.fired or verdict.broken):
        yield not_checked(rule, path, f"what it looks at is gone: {', '.join(verdict.missing)}")


def _finding(
    verdict: Verdict, severity: str, lines: tuple[tuple[int, str], ...], reason: str, joined: Joined | None
) -> Finding:
    rule = verdict.rule
    env = joined.env if joined else (verdict.envs[0] if verdict.envs else {})
    return Finding(
        rule.id,
        severity,
        rule.title,
        verdict.file.path,
        lines,
        hint=fill_in(rule.prescribe.hint, env),
        reason=reason,
        gates=rule.prescribe.gates,
    )


def _from_sides(verdict: Verdict) -> Finding:
    """A warning before anyone resolves anything, with the lines of whichever side has them."""
    rule = verdict.rule
    judge = Judge(rule, verdict.file)
    lines: dict[tuple[int, str], None] = {}
    for name, condition in rule.sides.items():
        side = verdict.roles.get(name, name)
        for fact in condition.facts():
            base = judge.facts("base").keys(fact)
            for match in judge.facts(side).of(fact):
                if not base[match.key]:
                    lines[match.line, match.text] = None
    severity = "warn" if rule.severity == "block" else rule.severity
    return _finding(verdict, severity, tuple(sorted(lines))[:_MANY], verdict.seen, None)


def _lines(joined: Joined) -> tuple[tuple[int, str], ...]:
    return tuple(sorted({(match.line, match.text) for match in joined.matches}))


def _deliberate(verdicts: Iterable[Verdict | tuple[Rule, str, str]]) -> list[re.Pattern[str]]:
    """What a matching rule says must go: that it is lost is no hazard."""
    found = []
    for verdict in verdicts:
        if isinstance(verdict, Verdict) and verdict.matched:
            rule = verdict.rule
            names = [d.rpartition(".")[2] for d in rule.prescribe.delete]
            for env in verdict.envs:
                found += [re.compile(rf"\b{re.escape(fill_in(name, env))}\b") for name in names]
    return found


def _generic(rules: Rules, view: View, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Finding]:
    wanted = [rule for rule in rules if rule.check]
    if not wanted:
        return
    from stackmerge.hazard.checks import generic

    for rule in wanted:
        yield from generic.run(rule, view, deliberate)
