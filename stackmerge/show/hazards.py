"""What the hazard rules found, and the rules themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from stackmerge.hazard.finding import ALLOWED, NOT_CHECKED, Finding
from stackmerge.hazard.library import Rules
from stackmerge.screen import clean, out, print_json, say, table

if TYPE_CHECKING:
    from stackmerge.hazard.rule import Rule
    from stackmerge.hazard.selftest import Proved
    from stackmerge.record import StepRecord

_LINES = 12


def hazard_lines(records: Iterable[StepRecord]) -> None:
    """Every finding of some steps: what blocks with its lines and hint, the rest in a line each."""
    for record in records:
        for finding in record.hazards:
            _finding(record.name, finding, in_full=not record.reused)


def _finding(step: str, finding: Finding, *, in_full: bool) -> None:
    if finding.disposition == ALLOWED:
        say(f"{clean(step)}: {finding.rule} allowed at {clean(finding.path)}: {clean(finding.reason)}")
        return
    if finding.disposition == NOT_CHECKED:
        say(f"{clean(step)}: {finding.rule} not checked at {clean(finding.path)}: {clean(finding.reason)}")
        return
    word = {"block": "BLOCKED by", "warn": "warning:", "note": "note:"}[finding.severity]
    say(f"{clean(step)}: {word} {finding.rule} at {clean(finding.path)}: {clean(finding.title)}")
    if in_full:
        say(f"    {clean(finding.reason)}")
        for number, text in finding.lines[:_LINES]:
            say(f"    {number:5}: {clean(text)}")
        if finding.hint:
            say(f"    hint: {clean(finding.hint)}")


def hazard_stop(step: str, worktree: str) -> None:
    """What to do about a hazard that stopped a rebuild."""
    if worktree:
        say(f"stopped at {clean(step)}: edit the files in {worktree} and `git add` them,")
        say(
            "then run `stackmerge continue` (--apply-hazard-edits makes the edits that a rule prescribes, if any);"
        )
        say("or say in the manifest that it is right: `allow: [{rule: ID, reason: WHY}]`, and `continue`")
    else:
        say(
            "steps that a hazard blocks were left out; rebuild without --keep-going to answer them one by one"
        )


def checked(records: Sequence[StepRecord], json: bool) -> None:
    """Show what the rules say of steps."""
    if json:
        steps = [
            {
                "name": r.name,
                "rules": list(r.rules),
                "gates": list(r.gates),
                "hazards": [f._asdict() for f in r.hazards],
            }
            for r in records
        ]
        print_json({"steps": steps})
    hazard_lines(records)
    found = [finding for record in records for finding in record.hazards]
    counts = {word: sum(f.disposition == word for f in found) for word in ("found", ALLOWED, NOT_CHECKED)}
    say(f"{len(records)} steps: " + ", ".join(f"{count} {word}" for word, count in counts.items()))


def listed(rules: Rules, json: bool) -> None:
    """Show every rule in a line."""
    if json:
        print_json({"rules": [_rule_json(rule) for rule in rules]})
        return
    rows = [(rule.id, rule.severity, rule.check or f"facts in {rule.language}", rule.title) for rule in rules]
    table("", ("rule", "severity", "looks at", "title"), rows)


def _rule_json(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "severity": rule.severity,
        "title": rule.title,
        "why": rule.why,
        "check": rule.check,
        "language": rule.language,
        "paths": list(rule.paths),
        "hint": rule.prescribe.hint,
        "gates": list(rule.prescribe.gates),
        "edits": rule.has_edits,
        "file": str(rule.file),
    }


def explained(rule: Rule, json: bool) -> None:
    """Show one rule in full."""
    if json:
        print_json(_rule_json(rule))
        return
    out(f"{rule.id} ({rule.severity}): {clean(rule.title)}\n")
    out("\n".join(clean(line) for line in rule.why.strip().split("\n")))
    out(f"\npaths: {clean(', '.join(rule.paths))}")
    for name, condition in rule.sides.items():
        out(f"{name}: touches {clean(', '.join(sorted(condition.facts())))}")
    if rule.prescribe.hint:
        out(f"hint: {clean(rule.prescribe.hint)}")
    for symbol, take in rule.prescribe.resolve:
        out(f"edit: take {clean(symbol)} from {take}")
    for symbol in rule.prescribe.delete:
        out(f"edit: delete {clean(symbol)}")
    if rule.prescribe.gates:
        out(f"gates: {clean(', '.join(rule.prescribe.gates))}")


def tested(found: Sequence[Proved], json: bool) -> None:
    """Show which rules their fixtures prove."""
    if json:
        print_json({"rules": [{"id": p.rule.id, "problems": list(p.problems)} for p in found]})
    for proved in found:
        say(f"{proved.rule.id}: {'proved' if not proved.problems else 'NOT PROVED'}")
        for problem in proved.problems:
            say(f"    {clean(problem)}")
