"""The key under which a gate's result is kept: its definition, its inputs and its environment."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from stackmerge import globs
from stackmerge.gate.spec import Gate
from stackmerge.objects import Objects
from stackmerge.rawtree import TREE_MODE

_VERSION = 2  # of what a pass means: one that was kept under an earlier one may rest on less
_NOTHING = hashlib.sha256().hexdigest()
_WILD = re.compile(r"[*?]")


class Inputs:
    """Digests of the part of a tree that a gate declares as its inputs."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._under = lru_cache(maxsize=10_000)(self._digest_under)

    def digest(self, gate: Gate, tree: str) -> str:
        """Equal for two trees exactly when no declared input differs.

        The tree itself where none is declared, or no file is among them: a result must depend on something.
        """
        if not self.match(gate, tree):
            return tree
        parts = [self._under(tree, pattern) for pattern in gate.inputs]
        return hashlib.sha256("".join(parts).encode()).hexdigest()

    def match(self, gate: Gate, tree: str) -> bool:
        """Is any file of a tree among the declared inputs?"""
        return any(self._under(tree, pattern) != _NOTHING for pattern in gate.inputs)

    def _digest_under(self, tree: str, pattern: str) -> str:
        folder = _WILD.split(pattern)[0].rpartition("/")[0]
        entry = self._objects.lookup(tree, folder) if folder else None
        digest = hashlib.sha256()
        if not folder or (entry and entry.mode == TREE_MODE):
            root = entry.oid if entry else tree
            for path, oid in self._walk(root, folder + "/" if folder else ""):
                if globs.matches(path, (pattern,)):
                    digest.update(f"{os.fsencode(path)!r} {oid}\n".encode())
        return digest.hexdigest()

    def _walk(self, tree: str, prefix: str) -> Iterator[tuple[str, str]]:
        for name, entry in self._objects.tree(tree).items():
            path = prefix + os.fsdecode(name)
            if entry.mode == TREE_MODE:
                yield from self._walk(entry.oid, path + "/")
            else:
                yield path, f"{entry.mode:o} {entry.oid}"


def key(gate: Gate, inputs: str, environment: Mapping[str, str], settings: Sequence[str] = ()) -> str:
    """The name of a result: the same gate on the same inputs in the same environment.

    ``settings`` is what else a result depends on and nobody need read: digests of settings and of variables' values.
    """
    definition = {**gate._asdict(), "requires": gate.requires._asdict()}
    for without_effect in ("on", "timeout"):
        del definition[without_effect]
    text = json.dumps([_VERSION, definition, inputs, dict(environment), list(settings)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def values(gate: Gate, salt: bytes) -> list[str]:
    """A digest of the value of each variable that a gate asks for; salted, as a result may be shown to anybody."""
    found = {name: os.environ.get(name) for name in gate.requires.env}
    return [hashlib.sha256(salt + repr(pair).encode()).hexdigest() for pair in sorted(found.items())]
