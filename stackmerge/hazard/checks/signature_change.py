"""A signature changes on one side; a caller that the other side adds fits only the old one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from stackmerge.hazard.checks import outline, python, signature_c
from stackmerge.hazard.checks.python import Signature
from stackmerge.hazard.checks.seen import NotChecked, Seen, in_result
from stackmerge.hazard.view import FileView, Unreadable, View

_PYTHON = ("python",)


@dataclass(frozen=True)
class _Changed:
    """A function whose signature one side changed."""

    path: str
    dotted: str
    old: Signature
    new: Signature

    def breaks(self, call: python.Call) -> bool:
        return self.old.takes(call) and not self.new.takes(call)


def check(view: View, deliberate: Sequence[re.Pattern[str]]) -> Iterator[Seen | NotChecked]:
    """New calls that the old signature takes and the new one does not, in Python and in C."""
    del deliberate
    yield from signature_c.check(view)
    if any(view.changed_in("theirs", _PYTHON)):
        called = outline.called(view, _PYTHON)
        yield from _callers(view, "theirs", "ours", _touched(view, "ours", called))
        yield from _callers(view, "ours", "theirs", _touched(view, "theirs", None))


def _touched(view: View, side: str, called: set[str] | None) -> dict[str, list[str]]:
    """By the name it is called by: the files in which a side changed what a function takes."""
    found: dict[str, list[str]] = {}
    for change in view.changed_in(side, _PYTHON):
        names = outline.resigned(view, change)
        for name in names if called is None else names & called:
            found.setdefault(name, []).append(change.path)
    return found


@lru_cache(maxsize=256)
def _signatures(text: str) -> dict[str, Signature]:
    module = python.tree(text)
    return python.signatures(module) if module else {}


def _changes(view: View, paths: list[str], name: str, side: str) -> list[_Changed]:
    """The functions called by ``name`` whose signature a side changed."""
    found = []
    for path in paths:
        file = view.file(path)
        old, new = _signatures(file.text("base")), _signatures(file.text(side))
        for dotted in old.keys() & new.keys():
            if _callable_name(dotted) == name and old[dotted] != new[dotted]:
                found.append(_Changed(path, dotted, old[dotted], new[dotted]))
    return found


def _callable_name(dotted: str) -> str:
    owner, _, name = dotted.rpartition(".")
    return owner.rpartition(".")[2] if name == "__init__" and owner else name


def _callers(
    view: View, adder: str, changer: str, touched: dict[str, list[str]]
) -> Iterator[Seen | NotChecked]:
    words = [name.encode() + b"(" for name in touched]
    for change in view.changed_in(adder, _PYTHON) if touched else ():
        if not outline.may_mention(view, change.now, words):
            continue
        file = view.file(change.path)
        try:
            file.data(adder)
            yield from _calls(view, file, adder, changer, touched)
        except Unreadable as error:
            yield NotChecked(change.path, str(error))


def _calls(
    view: View, file: FileView, adder: str, changer: str, touched: dict[str, list[str]]
) -> Iterator[Seen]:
    added = dict(file.change("base", adder).added)
    mentioned = {name for line in added.values() for name in outline.CALL.findall(line)} & touched.keys()
    changed = {name: _changes(view, touched[name], name, changer) for name in mentioned}
    wanted = {name for name in mentioned if changed[name]}
    module = python.tree(file.text(adder)) if wanted else None
    if module is None:
        return
    for call in python.calls(module, wanted, set(added)):
        line = added[call.line]
        candidates = [one for one in changed[call.name] if _may_mean(one, call, file)]
        where = in_result(file, [(call.line, line)])
        if not where or not candidates:
            continue
        if all(one.breaks(call) for one in candidates) and not _means_another(
            view, candidates, call, changer
        ):
            first = candidates[0]
            what = f"{changer} changed what {first.dotted} in {first.path} takes; this call by {adder} fits the old"
            yield Seen(file.path, what, where)


def _means_another(view: View, candidates: list[_Changed], call: python.Call, changer: str) -> bool:
    """A method is known by its name alone: is there another of that name that did not change?"""
    if not call.attribute:
        return False
    apart = {one.path for one in candidates}
    return outline.defined_elsewhere(view, call.name, "python", changer, apart) is not False


def _may_mean(one: _Changed, call: python.Call, file: FileView) -> bool:
    """Can the call be of this function? A method is called through a dot, a function in a file that names it."""
    is_method = "." in one.dotted and not one.dotted.endswith(".__init__")
    if is_method:
        return call.attribute
    return one.path == file.path or call.name in file.text("ours") + file.text("theirs")
