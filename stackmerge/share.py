"""Share the cache with others through a remote's ``refs/stackmerge/rerere``.

Two caches are joined as branches are: from the commit that both come from, what either recorded since is in the
result, and what either forgot is not.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
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
    joined.extend(_newest(here.values(), [there[key] for key in new]))
    for key in here.keys() & there.keys():
        _join_origins(joined, before.get(key), here[key], there[key])
    writer = Person.tool(time.time())
    made = Commit(joined.flush(), (ours, theirs), writer, writer, f"{subject}\n")
    return objects.write_commit(made), pulled


def _join_origins(
    joined: Resolutions, before: Resolution | None, ours: Resolution, theirs: Resolution
) -> None:
    """Let a text that both have have the origins that either recorded, but those that either took away."""
    if not isinstance(ours, Text) or not isinstance(theirs, Text) or ours.provenance == theirs.provenance:
        return
    old = before.provenance if isinstance(before, Text) else ()
    every = dict.fromkeys((*ours.provenance, *theirs.provenance))
    gone = {one for one in old if one not in ours.provenance or one not in theirs.provenance}
    [text] = [t for t in joined.text(ours.id) if _identity(t) == _identity(ours)]
    joined.keep_only(text, [one for one in every if one not in gone])


def everything(objects: Objects, commit: str) -> Mapping[object, Resolution]:
    """Every resolution that a commit of the cache holds, by what makes it another one than the next."""
    cache = Resolutions(objects, objects.commit(commit).tree)
    texts = [text for key in cache.text_ids() for text in cache.text(key)]
    found: list[Resolution] = [*texts, *cache.all_exact(), *cache.all_fixups()]
    return {_identity(one): one for one in found}


def _newest(here: Iterable[Resolution], new: Iterable[Resolution]) -> Iterator[Resolution]:
    """Those of ``new`` that are no older than what is here for the very same case, where only the newest counts."""
    ours = {_case(one): one for one in here if not isinstance(one, Text)}
    for one in new:
        own = ours.get(_case(one))
        if (
            isinstance(one, Text)
            or own is None
            or isinstance(own, Text)
            or own.provenance.when <= one.provenance.when
        ):
            yield one


def _case(one: Resolution) -> object:
    """What an exact answer or a fixup is for."""
    if isinstance(one, Exact):
        return (one.path, one.kind, one.base, one.ours, one.theirs)
    return (one.head, one.path) if isinstance(one, Fixup) else one


def _identity(one: Resolution) -> object:
    if isinstance(one, Text):
        return (one.id, one.preimage, one.postimage)
    if isinstance(one, Exact):
        return (one.path, one.kind, one.base, one.ours, one.theirs, one.answer)
    return (one.head, one.path, one.before, one.after)
