"""The same question for C: does a call that one side adds pass as many arguments as the other side now asks for?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from stackmerge.hazard.checks import difference, outline
from stackmerge.hazard.checks.seen import NotChecked, Seen, in_result
from stackmerge.hazard.view import Changed, FileView, Unreadable, View

_LONGEST_CALL = 4000
ANY = -1


@dataclass(frozen=True)
class _Changed:
    """A function whose number of parameters a side changed; ANY stands for a variable number."""

    path: str
    old: frozenset[int]
    new: frozenset[int]


def check(view: View) -> Iterator[Seen | NotChecked]:
    """New calls that pass what the old declaration asked for."""
    if any(view.changed_in("theirs", outline.C)):
        called = outline.called(view, outline.C)
        yield from _callers(view, "theirs", "ours", _changed(view, "ours", called))
        yield from _callers(view, "ours", "theirs", _changed(view, "theirs", None))


def arities(parameters: Iterable[str]) -> frozenset[int]:
    """How many parameters a function takes in each of its lists; counted only for the few that are asked about."""
    return frozenset(map(_count, parameters))


@lru_cache(maxsize=10_000)
def _count(parameters: str) -> int:
    """The number of parameters in the text of a list."""
    text = re.sub(r"/\*.*?\*/", "", parameters, flags=re.DOTALL).strip()
    if text in ("", "void"):
        return 0
    return ANY if "..." in text else 1 + _commas(text)


def _commas(text: str) -> int:
    depth = commas = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        commas += character == "," and not depth
    return commas


def _changed(view: View, side: str, called: set[str] | None) -> dict[str, list[_Changed]]:
    found: dict[str, list[_Changed]] = {}
    for change in view.changed_in(side, outline.C):
        names = difference.redeclared(view, change)
        names = names if called is None else names & called
        for name, old, new in _arities(view, change, names) if names else ():
            if not old & new:
                found.setdefault(name, []).append(_Changed(change.path, old, new))
    return found


def _arities(
    view: View, change: Changed, names: Collection[str]
) -> Iterator[tuple[str, frozenset[int], frozenset[int]]]:
    """How many parameters some functions take before and after a change."""
    if change.base and change.now:
        texts = [
            view.objects.blob(entry.oid).decode("utf-8-sig", "replace") for entry in (change.base, change.now)
        ]
        old, new = map(outline.declared, texts)
        both = sorted(name for name in names if name in old and name in new)
        yield from ((name, arities(old[name]), arities(new[name])) for name in both)


def _callers(
    view: View, adder: str, changer: str, changed: dict[str, list[_Changed]]
) -> Iterator[Seen | NotChecked]:
    words = [name.encode() for name in changed]
    for change in view.changed_in(adder, outline.C) if changed else ():
        if not outline.may_mention(view, change.now, words):
            continue
        file = view.file(change.path)
        try:
            data = file.data(adder)
            names = {name for name in changed if name.encode() in data}
            yield from _calls(file, adder, changer, {name: changed[name] for name in names})
        except Unreadable as error:
            yield NotChecked(change.path, str(error))


def _calls(file: FileView, adder: str, changer: str, changed: dict[str, list[_Changed]]) -> Iterator[Seen]:
    added = dict(file.change("base", adder).added)
    if not any(name in line for line in added.values() for name in changed):
        return
    text = file.text(adder)
    here = outline.declared(file.text("merged") if file.has_merged and file.merged else text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for number, line in added.items():
        where = in_result(file, [(number, line)])
        if not where:
            continue
        for match in outline.CALL.finditer(outline.code(line, "c")):
            one = changed.get(match[1], [None])[0]
            passed = _passed(text, starts[number - 1] + line.find(match[1])) if one else None
            if one and passed in one.old and not {passed, ANY} & (one.new | arities(here.get(match[1], ()))):
                asks = ", ".join(map(str, sorted(one.new)))
                what = f"{changer} changed {match[1]} in {one.path} to take {asks}"
                yield Seen(file.path, f"{what}; this call by {adder} passes {passed}", where)


def _passed(text: str, start: int) -> int | None:
    """How many arguments the call passes that begins at ``start``; None where that is not a whole call."""
    opening = text.find("(", start)
    depth, quote, arguments = 0, "", ""
    for place in range(opening, min(len(text), opening + _LONGEST_CALL)):
        character = text[place]
        if quote:
            quote = "" if character == quote and text[place - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if not depth:
                after = text[place + 1 : place + 80].lstrip()
                return None if after.startswith("{") else _count(arguments[1:])
        if not quote:
            arguments += character
    return None
