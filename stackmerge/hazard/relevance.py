"""Whether any rule can have something to say about a step: asked of every step, so it needs no rule to be parsed."""

from __future__ import annotations

from collections.abc import Iterable

from stackmerge import globs
from stackmerge.hazard import languages
from stackmerge.hazard.library import Rules
from stackmerge.objects import Objects


def relevant(
    objects: Objects, ours: str, theirs: str, merged: str, rules: Rules, conflicts: Iterable[str] = ()
) -> bool:
    """Can any rule have something to say about a step? Asked first, since it needs no merge base.

    False where the merge brings only files that no rule looks at, each as one side has it.
    """
    changed = objects.diff(ours, merged)
    paths = [*changed, *conflicts]
    if any(_is_code(path) or globs.matches(path, rules.paths) for path in paths):
        return True
    replaced = [(path, after.oid) for path, (before, after) in changed.items() if before and after]
    return any(_oid(objects, theirs, path) != oid for path, oid in replaced)


def _oid(objects: Objects, tree: str, path: str) -> str:
    entry = objects.lookup(tree, path)
    return entry.oid if entry else ""


def _is_code(path: str) -> bool:
    return bool(languages.of(path)) or path.endswith(".sql")
