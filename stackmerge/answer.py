"""What became of the conflicts of a merge: what was applied, and what stays and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from stackmerge.merge import Conflict
from stackmerge.resolution import Provenance

# merge-ort moves a file that is in the way of a directory to "<path>~<commit>".
_MOVED = re.compile(r"~[0-9a-f]{40}(_\d+)?$")


class Used(NamedTuple):
    """One resolution that was applied. ``kind``: text, exact, fixup or policy.

    ``key`` is where it is stored, ``state`` what was there; ``before`` are the keys, with spaces between them, of
    answers that would have come first, had there been any.
    """

    path: str
    kind: str
    id: str
    key: str = ""
    state: str = ""
    provenance: Provenance = Provenance()
    before: str = ""


@dataclass(frozen=True)
class Unresolved:
    """A conflict that stays, and why nothing replayed. ``keys`` are where text answers to it would be stored."""

    conflict: Conflict
    reason: str
    keys: tuple[str, ...] = ()


class Replayed(NamedTuple):
    """What became of a merge: its tree, what was applied and what is left."""

    tree: str
    used: tuple[Used, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()


def settled_path(conflict: Conflict) -> str:
    """The path a conflict is about, without the suffix of a file that git moved out of a directory's way."""
    return _MOVED.sub("", conflict.path)
