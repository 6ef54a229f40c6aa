"""A signature changes on one side; a caller that the other side adds fits only the old one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from stackmerge.hazard import languages
from stackmerge.hazard.checks import outline, python
from stackmerge.hazard.checks.python import Signature
from stackmerge.hazard.checks.seen import NotChecked, Seen
from stackmerge.hazard.view import FileView, Unreadable, View

_CALL = re.compile(r"\b(\w+)\s*\(")


def check(view: View, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Seen | NotChecked]:
    """New Python calls that the old signature takes and the new one does not."""
    del deliberate
    theirs = _python(view.theirs_changed)
    if not theirs:
        return
    called = _called(view, theirs, "theirs")
    if called:
        changed = _changed(view, _python(view.ours_changed), "ours", called)
        yield from _callers(view, theirs, "theirs", "ours", changed)
    changed = _changed(view, theirs, "theirs", None)
    if changed:
        yield from _callers(view, _python(view.ours_changed), "ours", "theirs", changed)


def _python(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if languages.of(path) == "python"]


def _called(view: View, paths: list[str], side: str) -> set[str]:
    found: set[str] = set()
    for path in paths:
        try:
            added = view.file(path).change("base", side).added
        except Unreadable:
            continue
        found.update(name for _, line in added for name in _CALL.findall(line))
    return found


Changed = dict[str, list[tuple[str, str, Signature, Signature]]]


def _changed(view: View, paths: list[str], side: str, called: set[str] | None) -> Changed:
    """By name: path, dotted name, old and new signature of the functions that a side changed."""
    found: Changed = {}
    for path in paths:
        file = view.file(path)
        if file.base is None or getattr(file, side) is None:
            continue
        if called is not None and not outline.base_definitions(view, file.base.oid, "python") & called:
            continue
        for dotted, old, new in _pairs(file, side, called):
            found.setdefault(_callable_name(dotted), []).append((path, dotted, old, new))
    return found


def _callable_name(dotted: str) -> str:
    owner, _, name = dotted.rpartition(".")
    return owner.rpartition(".")[2] if name == "__init__" and owner else name


def _pairs(file: FileView, side: str, called: set[str] | None) -> list[tuple[str, Signature, Signature]]:
    try:
        change = file.change("base", side)
        touched = outline.defined_in_lines(change.removed, "python") | _near(file, change.removed)
        if not touched or (called is not None and not touched & called):
            return []
        before, after = python.tree(file.text("base")), python.tree(file.text(side))
    except Unreadable:
        return []
    if before is None or after is None:
        return []
    old, new = python.signatures(before), python.signatures(after)
    return [(name, old[name], new[name]) for name in old.keys() & new.keys() if old[name] != new[name]]


def _near(file: FileView, removed: Sequence[tuple[int, str]]) -> set[str]:
    """Functions whose parameter list, over several lines, a removed line may be part of."""
    lines = file.lines("base")
    found: set[str] = set()
    for number, _ in removed:
        for back in range(number, max(0, number - 25), -1):
            names = outline.defined(lines[back - 1], "python")
            if names:
                found |= names
                break
    return found


def _callers(
    view: View, paths: list[str], adder: str, changer: str, changed: Changed
) -> Iterator[Seen | NotChecked]:
    names = set(changed)
    for path in paths if names else ():
        file = view.file(path)
        try:
            data = file.data(adder)
            if not any(name.encode() in data for name in names):
                continue
            yield from _calls(file, adder, changer, changed)
        except Unreadable as error:
            yield NotChecked(path, str(error))


def _calls(file: FileView, adder: str, changer: str, changed: Changed) -> Iterator[Seen]:
    added = dict(file.change("base", adder).added)
    mentioned = {name for line in added.values() for name in _CALL.findall(line)} & changed.keys()
    module = python.tree(file.text(adder)) if mentioned else None
    if module is None:
        return
    merged = set(file.lines("merged")) if file.has_merged and file.merged else None
    for call in python.calls(module, mentioned, set(added)):
        line = added[call.line]
        if merged is not None and line not in merged:
            continue
        candidates = [one for one in changed[call.name] if _may_mean(one, call, file)]
        if candidates and all(old.takes(call) and not new.takes(call) for _, _, old, new in candidates):
            where, dotted = candidates[0][:2]
            what = f"{changer} changed what {dotted} in {where} takes; this call by {adder} fits only the old form"
            yield Seen(file.path, what, ((call.line, line.strip()),))


def _may_mean(one: tuple[str, str, Signature, Signature], call: python.Call, file: FileView) -> bool:
    path, dotted = one[:2]
    is_method = "." in dotted and not dotted.endswith(".__init__")
    if is_method:
        return call.attribute
    return path == file.path or call.name in file.text("ours") + file.text("theirs")
