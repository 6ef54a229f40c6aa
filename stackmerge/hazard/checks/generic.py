"""The generic checks by their names, and their findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from stackmerge import globs
from stackmerge.hazard.checks import (
    changed_default,
    double_applied,
    duplicate_definition,
    lint_delta,
    lost_addition,
    signature_change,
    symbol_removed,
    unique_id,
)
from stackmerge.hazard.checks.seen import NotChecked, Seen
from stackmerge.hazard.finding import NOT_CHECKED, Finding
from stackmerge.hazard.rule import Rule
from stackmerge.hazard.view import View

Check = Callable[[View, Sequence[re.Pattern[str]]], Iterator[Seen | NotChecked]]

CHECKS: dict[str, Check] = {
    "symbol_removed_vs_added_ref": symbol_removed.check,
    "duplicate_definition": duplicate_definition.check,
    "lost_addition": lost_addition.check,
    "signature_changed_vs_new_call": signature_change.check,
    "lint_delta": lint_delta.check,
    "double_applied": double_applied.check,
    "changed_default": changed_default.check,
    "unique_id": unique_id.check,
}


def run(rule: Rule, view: View, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Finding]:
    """The findings of a generic rule. Nothing blocks before the merge, or without conclusive evidence."""
    for seen in CHECKS[rule.check](view, deliberate):
        if not globs.matches(seen.path, rule.paths):
            continue
        if isinstance(seen, NotChecked):
            yield Finding(rule.id, "note", rule.title, seen.path, disposition=NOT_CHECKED, reason=seen.reason)
            continue
        weak = rule.severity == "block" and (view.before or not seen.conclusive)
        yield Finding(
            rule.id,
            "warn" if weak else rule.severity,
            rule.title,
            seen.path,
            seen.lines,
            hint=rule.prescribe.hint,
            reason=seen.what,
            gates=rule.prescribe.gates,
        )
