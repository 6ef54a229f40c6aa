"""Share the cache with others through a remote's ``refs/stackmerge/rerere``."""

from __future__ import annotations

from stackmerge.cache import save
from stackmerge.errors import StackmergeError
from stackmerge.objects import Objects
from stackmerge.remote import Remote
from stackmerge.repository import Repository
from stackmerge.resolution import Resolution
from stackmerge.resolutions import REF, Resolutions

THEIRS = "refs/stackmerge/remote-rerere"


def pull(repository: Repository, remote: str) -> int:
    """Fetch a remote's cache and add what is new to ours; how many resolutions that were."""
    try:
        Remote(repository.common_dir, remote).fetch([f"+{REF}:{THEIRS}"])
    except StackmergeError as error:
        if "couldn't find remote ref" not in error.message:
            raise
        hint = f"`stackmerge rerere push {remote}` makes one"
        raise StackmergeError(f"{remote} holds no cache yet", hint) from None
    fetched = repository.refs.get(THEIRS)
    if fetched is None:
        return 0
    ours = repository.resolutions()
    ours.extend(everything(repository.objects, fetched))
    count = len(ours.added)
    if count:
        save(repository, ours, f"pull from {remote}")
    return count


def everything(objects: Objects, commit: str) -> list[Resolution]:
    """Every resolution that a commit of the cache holds."""
    cache = Resolutions(objects, objects.commit(commit).tree)
    texts = [text for key in cache.text_ids() for text in cache.text(key)]
    return [*texts, *cache.all_exact(), *cache.all_fixups()]


def push(repository: Repository, remote: str) -> str:
    """Join the remote's cache into ours and push the result, so that nobody's resolutions are lost."""
    connection = Remote(repository.common_dir, remote)
    there = connection.has(REF)
    if there:
        pull(repository, remote)
    ours = repository.resolutions()
    commit = save(repository, ours, "begin")
    lease = repository.refs.get(THEIRS) if there else ""
    connection.push([f"+{commit}:{REF}"], [f"{REF}:{lease}"])
    return commit
