"""The lock ``stackmerge.lock``: pinned heads, and the base and results of the last accepted rebuild.

Written by the tool only, as JSON, in the order of the stack.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from stackmerge.errors import StackmergeError, UsageError

_OID = re.compile(r"[0-9a-f]{40}")


class Pin(NamedTuple):
    """One step: the source as the manifest wrote it, the head it was pinned to, and what was made of it."""

    source: str
    head: str
    commit: str = ""
    outcome: str = ""


class Lock(NamedTuple):
    """State of the last accepted rebuild; all empty before the first."""

    base: str = ""
    tip: str = ""
    steps: Mapping[str, Pin] = MappingProxyType({})


def load(path: Path) -> Lock:
    """Read a lock; an empty one where there is no file. Raises UsageError when it is damaged."""
    try:
        found = json.loads(path.read_bytes())
        steps = {name: Pin(**pin) for name, pin in found["steps"].items()}
        lock = Lock(str(found["base"]), str(found["tip"]), steps)
    except FileNotFoundError:
        return Lock()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path) from error
    oids = [lock.base, lock.tip, *(o for pin in steps.values() for o in (pin.head, pin.commit))]
    if not all(oid == "" or _OID.fullmatch(oid) for oid in oids):
        raise _damaged(path)
    return lock


def _damaged(path: Path) -> UsageError:
    hint = (
        "restore it from git; or delete it, and `stackmerge undo N`, with the state that `undo --list` "
        "marks `*`, writes it anew"
    )
    return UsageError(f"{path.name} is damaged", hint)


def save(path: Path, lock: Lock) -> None:
    """Write a lock in one step: a reader sees the old one or the new one."""
    steps = {name: pin._asdict() for name, pin in lock.steps.items()}
    text = json.dumps({"version": 1, **lock._asdict(), "steps": steps}, indent=2) + "\n"
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.exists() and path.read_text() == text:
            return
        temporary.write_text(text)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StackmergeError(f"cannot write {path.name}: {error.strerror}", "is the disk full?") from error
