"""The same question for C: does a call that one side adds pass as many arguments as the other side now asks for?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from stackmerge.hazard import languages
from stackmerge.hazard.checks import outline
from stackmerge.hazard.checks.seen import NotChecked, Seen, in_result
from stackmerge.hazard.view import FileView, Unreadable, View
from stackmerge.objects import Entry

_CALL = re.compile(r"\b(\w+)\s*\(")
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
    theirs = [path for path in view.theirs_changed if languages.of(path) in outline.C]
    if not theirs:
        return
    ours = [path for path in view.ours_changed if languages.of(path) in outline.C]
    called = _called(view, theirs)
    yield from _callers(view, theirs, "theirs", "ours", _changed(view, ours, "ours", called))
    yield from _callers(view, ours, "ours", "theirs", _changed(view, theirs, "theirs", None))


def _called(view: View, paths: list[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        try:
            added = view.file(path).change("base", "theirs").added
        except Unreadable:
            continue
        found.update(name for _, line in added for name in _CALL.findall(line))
    return found


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


def _changed(view: View, paths: list[str], side: str, called: set[str] | None) -> dict[str, list[_Changed]]:
    found: dict[str, list[_Changed]] = {}
    for path in paths:
        file = view.file(path)
        now: Entry | None = getattr(file, side)
        if file.base is None or now is None or not (file.base.is_file and now.is_file):
            continue
        language = languages.of(path)
        before = outline.in_blob(view, file.base.oid, language).declared
        if called is not None and called.isdisjoint(before):
            continue
        after = outline.in_blob(view, now.oid, language).declared
        asked = before.keys() & after.keys() & (before.keys() if called is None else called)
        differ = [name for name in asked if before[name] != after[name]]
        for name, old, new in _arities(view, file.base.oid, now.oid, differ):
            if not old & new:
                found.setdefault(name, []).append(_Changed(path, old, new))
    return found


def _arities(
    view: View, base: str, now: str, names: list[str]
) -> Iterator[tuple[str, frozenset[int], frozenset[int]]]:
    """How many parameters some functions take in two blobs."""
    if names:
        texts = [view.objects.blob(oid).decode("utf-8", "replace") for oid in (base, now)]
        old, new = map(outline.declared, texts)
        yield from ((name, arities(old[name]), arities(new[name])) for name in sorted(names))


def _callers(
    view: View, paths: list[str], adder: str, changer: str, changed: dict[str, list[_Changed]]
) -> Iterator[Seen | NotChecked]:
    for path in paths if changed else ():
        file = view.file(path)
        try:
            data = file.data(adder)
            names = {name for name in changed if name.encode() in data}
            if names:
                yield from _calls(file, adder, changer, {name: changed[name] for name in names})
        except Unreadable as error:
            yield NotChecked(path, str(error))


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
        for match in _CALL.finditer(outline.code(line, "c")):
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
