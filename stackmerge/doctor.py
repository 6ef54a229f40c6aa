"""Doctor: what of this machine and repository costs time, changes results or is missing, and what to do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stackmerge import manifest
from stackmerge.errors import StackmergeError
from stackmerge.gate import gpu
from stackmerge.gate.facts import facts
from stackmerge.git import PINNED
from stackmerge.repository import Repository

OK, NOTE, BAD = "ok", "note", "bad"
_LITTLE_DISK = 2 * 2**30
_TOKENS = ("GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "GITEA_TOKEN", "FORGEJO_TOKEN")
_CHANGES_IDS = ("merge.conflictStyle", "diff.algorithm")


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. ``state``: ok, note or bad; ``do`` is what to do about it."""

    name: str
    state: str
    found: str
    do: str = ""


def examine(repository: Repository, path: Path) -> list[Check]:
    """Look at everything; nothing is changed."""
    return [
        _git(repository),
        _commit_graph(repository),
        *_configuration(repository),
        _identity(repository),
        _manifest(path),
        _disk(repository),
        *_gpus(),
        *_packages(),
        _token(),
    ]


def _git(repository: Repository) -> Check:
    return Check("git", OK, repository.git.version_text)


def _commit_graph(repository: Repository) -> Check:
    info = repository.common_dir / "objects" / "info"
    if (info / "commit-graph").exists() or (info / "commit-graphs").exists():
        return Check("commit-graph", OK, "there is one")
    return Check(
        "commit-graph", NOTE, "there is none: merges of a long history are slow", "a rebuild writes one"
    )


def _configuration(repository: Repository) -> Iterator[Check]:
    """Settings under which git's own rr-cache has other ids than ours."""
    for name in _CHANGES_IDS:
        done = repository.git.run(
            "config", "--file", str(repository.common_dir / "config"), "--get", name, ok=(0, 1)
        )
        value = done.stdout.decode(errors="replace").strip()
        if value and value != PINNED[name]:
            yield Check(
                name,
                NOTE,
                f"{value}: what git's own rerere records under it has other ids than ours",
                f"set it to {PINNED[name]} where you record, or let stackmerge record",
            )


def _identity(repository: Repository) -> Check:
    try:
        return Check("identity", OK, repository.identity())
    except StackmergeError as error:
        return Check("identity", BAD, error.message, error.hint)


def _manifest(path: Path) -> Check:
    try:
        found = manifest.load(path)
    except StackmergeError as error:
        return Check("manifest", BAD, error.message, error.hint)
    return Check(
        "manifest", OK, f"{path.name}: {found.stack}, {len(found.steps)} steps, {len(found.gates)} gates"
    )


def _disk(repository: Repository) -> Check:
    free = shutil.disk_usage(repository.common_dir).free
    if free < _LITTLE_DISK:
        return Check("disk", BAD, f"{free / 2**30:.1f} GiB are free", "make room before a rebuild")
    return Check("disk", OK, f"{free / 2**30:.0f} GiB are free")


def _gpus() -> Iterator[Check]:
    found = gpu.devices()
    if not found:
        yield Check("GPU", NOTE, "NVML shows none", "gates that ask for a GPU run on the CPU, or not at all")
    for device in found:
        memory = f"{device.free / 2**30:.0f} of {device.total / 2**30:.0f} GiB free"
        held = "; held by " + ", ".join(map(str, device.holders)) if device.holders else ""
        yield Check("GPU", OK, f"{device.name}, driver {device.driver}, {memory}{held}")


def _packages() -> Iterator[Check]:
    found = facts(None)
    for name in ("torch", "triton"):
        missing = Check(
            name, NOTE, "is not installed", "only the bundled gates need it: `pip install stackmerge[engine]`"
        )
        yield Check(name, OK, found[name]) if name in found else missing


def _token() -> Check:
    there = [name for name in _TOKENS if os.environ.get(name)]
    if there:
        return Check("token", OK, f"{there[0]} is set")
    if shutil.which("gh"):
        return Check("token", OK, "none is set; `gh auth token` will be asked")
    return Check("token", NOTE, "none is set", "`publish` needs one, such as GITHUB_TOKEN")
