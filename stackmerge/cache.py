"""The resolution cache as a whole: saved on its ref, and exchanged with git's rr-cache and with remotes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stackmerge import rerere
from stackmerge.errors import StackmergeError, UsageError
from stackmerge.objects import Commit, Person
from stackmerge.refs import Update
from stackmerge.repository import Repository
from stackmerge.resolution import Exact, Fixup, Provenance, Resolution, Text, fixup_key, text_key
from stackmerge.resolutions import REF, Resolutions

_TRIES = 5


def save(repository: Repository, resolutions: Resolutions, subject: str) -> str:
    """Put ``resolutions`` on the ref, on top of what others saved meanwhile; the commit that is there then."""
    for _ in range(_TRIES):
        last = repository.refs.get(REF)
        current = repository.resolutions()
        if current.origin == resolutions.origin:
            tree = resolutions.flush()
        else:
            resolutions.repeat_in(current)
            tree = current.flush()
        if last and repository.objects.commit(last).tree == tree:
            resolutions.saved(tree)
            return last
        writer = Person.tool(time.time())
        commit = Commit(tree, (last,) if last else (), writer, writer, f"{subject}\n")
        new = repository.objects.write_commit(commit)
        try:
            repository.refs.transaction([Update(REF, new, last)], f"stackmerge: {subject}")
        except StackmergeError:
            if repository.refs.get(REF) == last:
                raise
            continue
        resolutions.saved(tree)
        return new
    raise StackmergeError(
        f"{REF} keeps moving under us", "is another stackmerge training? run it again later"
    )


@dataclass(frozen=True)
class Listed:
    """One resolution in a list."""

    id: str
    kind: str
    path: str
    step: str
    source: str
    variant: int = 0


SHORT, _NAMED = 12, 5


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """The start of each id that no other begins with; the whole id where several share it, as fixups of one head."""
    every = set(ids)
    starts = Counter(one[:SHORT] for one in every)
    return {one: one[:SHORT] if starts[one[:SHORT]] == 1 else one for one in every}


def listed(repository: Repository) -> list[Listed]:
    """Every resolution of the cache."""
    resolutions = repository.resolutions()
    found = [_listed_text(text) for key in resolutions.text_ids() for text in resolutions.text(key)]
    others: list[Exact | Fixup] = [*resolutions.all_exact(), *resolutions.all_fixups()]
    for other in others:
        kind = type(other).__name__.lower()
        found.append(Listed(other.id, kind, other.path, other.provenance.step, other.provenance.source))
    return found


def _listed_text(text: Text) -> Listed:
    told = max(
        reversed(text.provenance), key=lambda one: (bool(one.path), bool(one.step)), default=Provenance()
    )
    return Listed(text.id, "text", told.path, told.step, told.source, text.variant)


def find(repository: Repository, start: str) -> list[Resolution]:
    """The resolutions whose id begins with ``start``. Raises UsageError for none, or for more than one id."""
    resolutions = repository.resolutions()
    found: list[Resolution] = [
        text for key in resolutions.text_ids() if key.startswith(start) for text in resolutions.text(key)
    ]
    others: list[Resolution] = [*resolutions.all_exact(), *resolutions.all_fixups()]
    found += [other for other in others if other.id.startswith(start)]
    if not found or not start:
        raise UsageError(f"no resolution has an id like {start!r}", "see `stackmerge rerere list`")
    ids = sorted({one.id for one in found})
    if len(ids) > 1:
        every = short_ids([*resolutions.text_ids(), *(other.id for other in others)])
        named = ", ".join(every[one] for one in ids[:_NAMED])
        more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
        raise UsageError(f"{start!r} is the start of {len(ids)} ids: {named}{more}", "give more of it")
    return found


def forget(repository: Repository, start: str) -> str:
    """Forget the resolution whose id begins with ``start``; its id."""
    found = find(repository, start)[0]
    resolutions = repository.resolutions()
    if isinstance(found, Text):
        key = text_key(found.id)
    elif isinstance(found, Exact):
        key = f"exact/{found.id}"
    else:
        key = fixup_key(found.head, found.path)
    resolutions.forget(key)
    save(repository, resolutions, f"forget {found.id}")
    return found.id


@dataclass(frozen=True)
class Imported:
    """How many resolutions an import added, and what it left out."""

    count: int
    skipped: tuple[tuple[str, str], ...]


def import_rr_cache(repository: Repository, directory: Path) -> Imported:
    """Take over git's own rr-cache; git does not record paths, so an entry replays where its file is alike."""
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory", "name an rr-cache, like .git/rr-cache")
    resolutions = repository.resolutions()
    skipped: list[tuple[str, str]] = []
    entries = rerere.read_rr_cache(directory, on_skip=lambda path, why: skipped.append((str(path), why)))
    for entry in entries:
        if entry.postimage is not None:
            resolutions.add_text(entry.id, entry.preimage, entry.postimage, Provenance(source="import"))
    save(repository, resolutions, "import an rr-cache")
    return Imported(len(resolutions.added), tuple(skipped))


def export_rr_cache(repository: Repository, directory: Path) -> int:
    """Write every text resolution as git's rerere lays them out; how many were new there."""
    resolutions = repository.resolutions()
    blob = repository.objects.blob
    entries = (
        rerere.Entry(text.id, text.variant, blob(text.preimage), blob(text.postimage))
        for key in resolutions.text_ids()
        for text in resolutions.text(key)
    )
    directory.mkdir(parents=True, exist_ok=True)
    return rerere.write_rr_cache(directory, entries)
