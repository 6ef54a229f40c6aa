"""A recorded answer to a conflict, of each of the three kinds, and where it comes from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import NamedTuple

from stackmerge.rawtree import Entry


class Provenance(NamedTuple):
    """Where an answer comes from. ``source`` is train, hand, import or hazard; unknown fields are empty."""

    path: str = ""
    source: str = ""
    step: str = ""
    head: str = ""
    parents: tuple[str, ...] = ()
    commit: str = ""
    who: str = ""
    when: int = 0
    git: str = ""
    reason: str = ""

    def as_json(self) -> dict[str, object]:
        return {key: value for key, value in self._asdict().items() if value}

    @classmethod
    def from_json(cls, found: Mapping[str, object]) -> Provenance:
        """Read a record. Raises TypeError where it is none."""
        known = {key: value for key, value in found.items() if key in cls._fields}
        known["parents"] = tuple(known.get("parents", ()))  # type: ignore[arg-type]
        made = cls(**known)  # type: ignore[arg-type]
        texts = [value for key, value in made._asdict().items() if key not in ("parents", "when")]
        if not isinstance(made.when, int) or not all(isinstance(t, str) for t in (*made.parents, *texts)):
            raise TypeError("not a provenance record")
        return made


class Text(NamedTuple):
    """One variant of a rerere entry; the images are blob ids."""

    id: str
    variant: int
    preimage: str
    postimage: str
    provenance: tuple[Provenance, ...]


class Exact(NamedTuple):
    """The answer to a conflict without markers; ``answer`` None deletes the path."""

    path: str
    kind: str
    base: Entry | None
    ours: Entry | None
    theirs: Entry | None
    answer: Entry | None
    provenance: Provenance

    @property
    def id(self) -> str:
        return hash_of_path(self.path)


class Fixup(NamedTuple):
    """What a merge needs although git made it cleanly: the path goes from ``before`` to ``after``."""

    path: str
    head: str
    before: Entry | None
    after: Entry | None
    provenance: Provenance

    @property
    def id(self) -> str:
        return f"{self.head[:12]}:{hash_of_path(self.path)[:12]}"


Resolution = Text | Exact | Fixup


def hash_of_path(path: str) -> str:
    return hashlib.sha1(os.fsencode(path)).hexdigest()


def exact_key(path: str) -> str:
    """Where the exact answers to conflicts at a path are stored."""
    return f"exact/{hash_of_path(path)}"


def text_key(conflict_id: str) -> str:
    """Where the text answers to a conflict are stored."""
    return f"rr-cache/{conflict_id}"


def fixup_key(head: str, path: str) -> str:
    """Where the fixup of a path in the merges of a head is stored."""
    return f"fixup/{head}/{hash_of_path(path)}"
