"""The edits that a rule prescribes, made in the merged tree."""

from __future__ import annotations

from collections.abc import Mapping

from stackmerge.errors import StackmergeError
from stackmerge.hazard import symbols
from stackmerge.hazard.clash import Verdict
from stackmerge.hazard.deletion import delete_symbol
from stackmerge.hazard.evaluate import verdicts
from stackmerge.hazard.finding import Sides
from stackmerge.hazard.lineends import written_like
from stackmerge.hazard.patterns import fill_in
from stackmerge.hazard.rule import Rule
from stackmerge.hazard.symbols import Symbol
from stackmerge.hazard.view import FileView, Unreadable
from stackmerge.objects import Objects
from stackmerge.rawtree import Entry


def apply_edits(objects: Objects, sides: Sides, rule: Rule) -> str:
    """The merged tree after the edits of ``rule``, wherever it fires; the same tree where it does not.

    Raises StackmergeError where the rule prescribes none, or where one cannot be made safely.
    """
    if sides.merged is None:
        raise StackmergeError(f"{rule.id}: there is no merged tree to edit", "resolve the conflict first")
    if not rule.has_edits:
        raise StackmergeError(f"{rule.id} prescribes no edits", rule.prescribe.hint or "edit by hand")
    changes: dict[str, Entry | None] = {}
    try:
        for verdict in verdicts(objects, sides, rule):
            merged = verdict.file.merged
            if merged is not None and (verdict.fired or verdict.broken):
                data = written_like(verdict.file.data("merged"), _edited(verdict))
                changes[verdict.file.path] = Entry(merged.mode, objects.write_blob(data))
    except Unreadable as error:
        raise StackmergeError(f"{rule.id}: not edited, {error}", "edit by hand") from error
    return objects.edit(sides.merged, changes)


def _edited(verdict: Verdict) -> str:
    rule, file = verdict.rule, verdict.file
    text = file.text("merged")
    for symbol, take in rule.prescribe.resolve:
        side = verdict.roles.get(take, take)
        text = _take_symbol(text, file, symbol, side, rule)
    envs: list[Mapping[str, str]] = [joined.env for joined in verdict.fired] or list(verdict.envs)
    scopes = {match.scope for joined in verdict.fired for match in joined.matches}
    scope = next(iter(scopes)) if len(scopes) == 1 else ""
    for pattern in rule.prescribe.delete:
        for symbol in dict.fromkeys(fill_in(pattern, env) for env in envs):
            text = delete_symbol(text, symbol, scope=scope, without=_without(file, symbol))
    return text


def _without(file: FileView, symbol: str) -> str:
    """The side that does not know the symbol; empty where both do."""
    name = symbol.rpartition(".")[2]
    return next((file.text(side) for side in ("ours", "theirs") if name not in file.text(side)), "")


def _take_symbol(text: str, file: FileView, symbol: str, side: str, rule: Rule) -> str:
    """``text`` with the whole of ``symbol``, decorators included, as a side has it."""
    lines, other = text.split("\n"), file.text(side).split("\n")
    here = _find(text, symbol, rule)
    there = _find(file.text(side), symbol, rule)
    if here is None or there is None:
        raise StackmergeError(f"{rule.id}: {symbol} is not in {file.path}", "edit by hand")
    return "\n".join([*lines[: here[0]], *other[there[0] : there[1]], *lines[here[1] :]])


def _find(text: str, symbol: str, rule: Rule) -> tuple[int, int] | None:
    """The lines of a symbol as a slice."""
    found: list[Symbol] = [s for s in symbols.of_text(text, rule.language) if s.name == symbol]
    if not found:
        return None
    lines, first = text.split("\n"), found[-1].first - 1
    while first and lines[first - 1].strip().startswith("@"):
        first -= 1
    return first, found[-1].last
