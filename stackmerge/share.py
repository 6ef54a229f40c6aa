"""Share the cache with others through a remote's ``refs/stackmerge/rerere``.

Two caches are joined as branches are: from the commit that both come from, what either recorded since is in the
result, and what either forgot is not.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from stackmerge.cache import save
from stackmerge.errors import StackmergeError
from stackmerge.objects import Commit, Objects, Person
from stackmerge.refs import Update
from stackmerge.remote import Remote
from stackmerge.repository import Repository
from stackmerge.resolution import Exact, Fixup, Resolution, Text
from stackmerge.resolutions import REF, Resolutions

THEIRS = "refs/stackmerge/remote-rerere"
_TRIES = 5


class Pulled(NamedTuple):
    """How many resolutions a pull brought, and how many it took away since others forgot them."""

    added: int = 0
    forgotten: int = 0


def pull(repository: Repository, remote: str) -> Pulled:
    """Fetch a remote's cache and join it with ours."""
    try:
        Remote(repository.common_dir, remote).fetch([f"+{REF}:{THEIRS}"])
    except StackmergeError as error:
        if "couldn't find remote ref" not in error.message:
            raise
        hint = f"`stackmerge rerere push {remote}` makes one"
        raise StackmergeError(f"{remote} holds no cache yet", hint) from None
    theirs = repository.refs.get(THEIRS)
    return _join(repository, theirs, f"pull from {remote}") if theirs else Pulled()


def push(repository: Repository, remote: str) -> str:
    """Join the remote's cache into ours and push the result, so that nobody's resolutions are lost."""
    connection = Remote(repository.common_dir, remote)
    there = connection.has(REF)
    if there:
        pull(repository, remote)
    commit = repository.refs.get(REF) or save(repository, repository.resolutions(), "begin")
    lease = repository.refs.get(THEIRS) if there else ""
    connection.push([f"+{commit}:{REF}"], [f"{REF}:{lease}"])
    return commit


def _join(repository: Repository, theirs: str, subject: str) -> Pulled:
    for _ in range(_TRIES):
        ours = repository.refs.get(REF)
        commit, pulled = _joined(repository, ours, theirs, subject)
        try:
            repository.refs.transaction([Update(REF, commit, ours)], f"stackmerge: {subject}")
        except StackmergeError:
            if repository.refs.get(REF) == ours:
                raise
            continue
        return pulled
    raise StackmergeError(f"{REF} keeps moving under us", "is another stackmerge at work? run it again later")


def _joined(repository: Repository, ours: str | None, theirs: str, subject: str) -> tuple[str, Pulled]:
    """The commit that holds both caches, and what is new in it for us."""
    objects = repository.objects
    there = everything(objects, theirs)
    if ours is None:
        return theirs, Pulled(len(there))
    here = everything(objects, ours)
    if repository.is_ancestor(theirs, ours):
        return ours, Pulled()
    base = repository.merge_base(ours, theirs)
    before = everything(objects, base) if base else {}
    new, forgotten = there.keys() - here.keys() - before.keys(), (before.keys() - there.keys()) & here.keys()
    pulled = Pulled(len(new), len(forgotten))
    if base == ours:
        return theirs, pulled
    joined = Resolutions(objects, objects.commit(ours).tree)
    for key in forgotten:
        joined.drop(here[key])
    wanted = [one for key, one in there.items() if key in new or key in here]
    joined.extend(_of_theirs(here.values(), wanted))
    writer = Person.tool(time.time())
    return objects.write_commit(
        Commit(joined.flush(), (ours, theirs), writer, writer, f"{subject}\n")
    ), pulled


def everything(objects: Objects, commit: str) -> Mapping[object, Resolution]:
    """Every resolution that a commit of the cache holds, by what makes it another one than the next."""
    cache = Resolutions(objects, objects.commit(commit).tree)
    texts = [text for key in cache.text_ids() for text in cache.text(key)]
    found: list[Resolution] = [*texts, *cache.all_exact(), *cache.all_fixups()]
    return {_identity(one): one for one in found}


def _of_theirs(here: Collection[Resolution], there: Iterable[Resolution]) -> Iterator[Resolution]:
    """What to take of theirs: of two fixups of one path and head only the newer can stand."""
    fixups = {(one.head, one.path): one for one in here if isinstance(one, Fixup)}
    for one in there:
        own = fixups.get((one.head, one.path)) if isinstance(one, Fixup) else None
        if own is None or not isinstance(one, Fixup) or own.provenance.when <= one.provenance.when:
            yield one


def _identity(one: Resolution) -> object:
    if isinstance(one, Text):
        return (one.id, one.preimage, one.postimage)
    if isinstance(one, Exact):
        return (one.path, one.kind, one.base, one.ours, one.theirs, one.answer)
    return (one.head, one.path, one.before, one.after)
