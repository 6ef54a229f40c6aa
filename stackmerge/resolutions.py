"""The store of recorded answers to conflicts, on the ref ``refs/stackmerge/rerere``.

The tree of that ref holds

    rr-cache/<id>/{preimage,postimage}[.k], provenance     text: git rerere's own layout
    exact/<hash of path>/<n>/{base,ours,theirs,answer}, provenance
    fixup/<head>/<hash of path>/{before,after}, provenance

so that each file is an object of its own, shared, versioned and safe from pruning.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from stackmerge.errors import StackmergeError
from stackmerge.objects import EMPTY_TREE, Objects
from stackmerge.rawtree import TREE_MODE, Entry
from stackmerge.resolution import Exact, Fixup, Provenance, Resolution, Text, exact_key, fixup_key, text_key
from stackmerge.similarity import is_rename

REF = "refs/stackmerge/rerere"
_FILE = 0o100644
T = TypeVar("T")
_POSTIMAGE = re.compile(rb"postimage(?:\.(\d+))?")


def _list(found: object) -> list[dict[str, object]]:
    return list(found) if isinstance(found, list) else []


def _is_of(one: Provenance, path: str, step: str, head: str, alike: bool) -> bool:
    """Is an answer recorded for a step at a path, or for who knows what in a file that is ``alike``?"""
    here = one.path == path or (alike and not one.path)
    return here and ((one.head == head != "") or one.step in ("", step))


def _suffix(variant: int) -> str:
    return f".{variant}" if variant else ""


class Resolutions:
    """The resolutions of one tree; additions stay in memory until ``flush``."""

    def __init__(self, objects: Objects, tree: str = EMPTY_TREE) -> None:
        self._objects = objects
        self.origin = tree
        self._tree = tree
        self._changed: dict[str, dict[bytes, Entry]] = {}
        self._by_step: dict[str, list[Fixup]] | None = None
        self._by_merge: list[list[Fixup]] | None = None
        self._unsaved: list[Callable[[Resolutions], object]] = []
        self.added: list[Resolution] = []

    def flush(self) -> str:
        """Write what was added; the id of the tree that now holds everything."""
        changes: dict[str, Entry | None] = {
            folder: Entry(TREE_MODE, self._objects.write_tree(entries))
            for folder, entries in self._changed.items()
        }
        self._tree = self._objects.edit(self._tree, changes)
        self._changed.clear()
        return self._tree

    def _added(self, resolution: Resolution) -> None:
        self.added.append(resolution)
        self._unsaved.append(lambda other: other.extend([resolution]))

    def repeat_in(self, other: Resolutions) -> None:
        """Do in ``other`` what was done here since the last save, in its order."""
        for change in self._unsaved:
            change(other)

    def saved(self, tree: str) -> None:
        """Everything up to here is on the ref, whose tree is ``tree`` now."""
        self._unsaved.clear()
        if tree == self._tree:
            self.origin = tree

    def extend(self, resolutions: Iterable[Resolution]) -> None:
        """Add resolutions that another cache of the same repository holds."""
        for resolution in resolutions:
            if isinstance(resolution, Text):
                for provenance in resolution.provenance or (Provenance(),):
                    images = self._objects.blob(resolution.preimage), self._objects.blob(resolution.postimage)
                    self.add_text(resolution.id, *images, provenance)
            elif isinstance(resolution, Exact):
                self.add_exact(resolution)
            else:
                self.add_fixup(resolution)

    def state(self, key: str) -> str:
        """The id of what is stored at ``key``, empty when nothing is: equal ids, equal answers."""
        if key in self._changed:
            return self._objects.write_tree(self._changed[key])
        entry = self._objects.lookup(self._tree, key)
        return entry.oid if entry else ""

    # -- text

    def text(self, conflict_id: str) -> list[Text]:
        """Every complete variant recorded for a rerere id, in git's order."""
        folder = self._folder(text_key(conflict_id))
        variants = sorted(int(m[1] or 0) for name in folder if (m := _POSTIMAGE.fullmatch(name)))
        known = self._read(
            folder,
            lambda found: {
                k: tuple(Provenance.from_json(p) for p in _list(found.get(str(k)))) for k in variants
            },
        )
        return [
            Text(
                conflict_id,
                k,
                folder[b"preimage" + _suffix(k).encode()].oid,
                folder[b"postimage" + _suffix(k).encode()].oid,
                known[k],
            )
            for k in variants
            if b"preimage" + _suffix(k).encode() in folder
        ]

    def add_text(self, conflict_id: str, preimage: bytes, postimage: bytes, provenance: Provenance) -> Text:
        """Record an answer; the same answer to the same conflict only gains the provenance.

        One that names no path says nothing new of an answer whose origin is known.
        """
        pre, post = self._objects.write_blob(preimage), self._objects.write_blob(postimage)
        variants = self.text(conflict_id)
        same = next((t for t in variants if (t.preimage, t.postimage) == (pre, post)), None)
        used = {t.variant for t in variants}
        free = next(k for k in range(len(used) + 1) if k not in used)
        found = same or Text(conflict_id, free, pre, post, ())
        if provenance in found.provenance or (found.provenance and not provenance.path):
            return found
        found = found._replace(provenance=(*found.provenance, provenance))
        folder = self._folder(text_key(conflict_id))
        known = self._provenance(folder)
        known[str(found.variant)] = [p.as_json() for p in found.provenance]
        suffix = _suffix(found.variant).encode()
        folder[b"preimage" + suffix], folder[b"postimage" + suffix] = Entry(_FILE, pre), Entry(_FILE, post)
        self._put(text_key(conflict_id), folder, known)
        self._added(found)
        return found

    def text_ids(self) -> list[str]:
        return self._names("rr-cache")

    # -- exact

    def exact(self, path: str) -> list[Exact]:
        """Every exact answer recorded at ``path``, newest first."""
        key = exact_key(path)
        return [self._read_exact(f"{key}/{n}") for n in sorted(self._names(key), key=int, reverse=True)]

    def _read_exact(self, key: str) -> Exact:
        folder = self._folder(key)
        base, ours, theirs, answer = (folder.get(name) for name in (b"base", b"ours", b"theirs", b"answer"))
        return self._read(
            folder,
            lambda found: Exact(
                found["path"], str(found["kind"]), base, ours, theirs, answer, Provenance.from_json(found)
            ),
        )

    def add_exact(self, exact: Exact) -> None:
        """Record an answer unless the newest one to the same conflict already says so."""
        for old in self.exact(exact.path):
            if (old.base, old.ours, old.theirs) == (exact.base, exact.ours, exact.theirs):
                if old.answer == exact.answer:
                    return
                break
        key = exact_key(exact.path)
        number = max((int(n) for n in self._names(key)), default=-1) + 1
        stages = {b"base": exact.base, b"ours": exact.ours, b"theirs": exact.theirs, b"answer": exact.answer}
        folder = {name: entry for name, entry in stages.items() if entry}
        self._put(
            f"{key}/{number}", folder, {**exact.provenance.as_json(), "path": exact.path, "kind": exact.kind}
        )
        self._added(exact)

    # -- fixups

    def fixups(self, head: str, step: str) -> list[Fixup]:
        """The fixups recorded for a head; those of the step's newest earlier head where it has none of its own."""
        key = f"fixup/{head}"
        own = [self._read_fixup(f"{key}/{name}", head) for name in self._names(key)]
        if own or not step:
            return own
        earlier = self._fixups_by_step().get(step, [])
        newest = max(earlier, key=lambda fixup: fixup.provenance.when, default=None)
        return [fixup for fixup in earlier if newest and fixup.head == newest.head]

    def _fixups_by_step(self) -> dict[str, list[Fixup]]:
        if self._by_step is None:
            self._by_step = {}
            for fixup in self.all_fixups():
                if fixup.provenance.step:
                    self._by_step.setdefault(fixup.provenance.step, []).append(fixup)
        return self._by_step

    def fixups_by_merge(self) -> list[list[Fixup]]:
        """Every fixup, those that one merge needed together."""
        if self._by_merge is None:
            groups: dict[tuple[str, ...], list[Fixup]] = {}
            for fixup in self.all_fixups():
                groups.setdefault((fixup.head, *fixup.provenance.parents), []).append(fixup)
            self._by_merge = list(groups.values())
        return self._by_merge

    def all_fixups(self) -> Iterator[Fixup]:
        for head in self._names("fixup"):
            yield from (
                self._read_fixup(f"fixup/{head}/{name}", head) for name in self._names(f"fixup/{head}")
            )

    def all_exact(self) -> Iterator[Exact]:
        for name in self._names("exact"):
            yield from (self._read_exact(f"exact/{name}/{n}") for n in self._names(f"exact/{name}"))

    def _read_fixup(self, key: str, head: str) -> Fixup:
        folder = self._folder(key)
        before, after = folder.get(b"before"), folder.get(b"after")
        return self._read(
            folder, lambda found: Fixup(found["path"], head, before, after, Provenance.from_json(found))
        )

    def add_fixup(self, fixup: Fixup) -> None:
        """Record what a merge needs; a new fixup of the same path and head replaces the old one."""
        stages = {b"before": fixup.before, b"after": fixup.after}
        folder = {name: entry for name, entry in stages.items() if entry}
        known = {**fixup.provenance.as_json(), "path": fixup.path}
        self._put(fixup_key(fixup.head, fixup.path), folder, known)
        self._by_step = self._by_merge = None
        self._added(fixup)

    # -- the tree below

    def forget(self, key: str) -> bool:
        """Remove what is stored at ``key`` (a path of the layout above); False when there is nothing."""
        self.flush()
        if self._objects.lookup(self._tree, key) is None:
            return False
        self._tree = self._objects.edit(self._tree, {key: None})
        self._by_step = self._by_merge = None
        self._unsaved.append(lambda other: other.forget(key))
        return True

    def forget_text_of(
        self, conflict_id: str, path: str, step: str, head: str, images: tuple[bytes, bytes]
    ) -> None:
        """Forget what else a step was answered at a path, where ``images`` are the conflict and its right answer.

        What is then nobody's answer goes altogether. One of an unknown path is the step's where the file is alike.
        """
        preimage, postimage = images
        for text in self.text(conflict_id):
            if self._objects.blob(text.postimage) == postimage:
                continue
            alike = is_rename(self._objects.blob(text.preimage), preimage)
            kept = [one for one in text.provenance if not _is_of(one, path, step, head, alike)]
            if len(kept) < len(text.provenance):
                self.keep_only(text, kept)
        self._unsaved.append(lambda other: other.forget_text_of(conflict_id, path, step, head, images))

    def drop(self, resolution: Resolution) -> None:
        """Forget one resolution: one variant of a text, one of the exact answers at a path, a fixup."""
        if isinstance(resolution, Text):
            found = [t for t in self.text(resolution.id) if t.postimage == resolution.postimage]
            for text in found:
                self.keep_only(text, ())
        elif isinstance(resolution, Exact):
            key = exact_key(resolution.path)
            for name in self._names(key):
                if self._read_exact(f"{key}/{name}")[1:6] == resolution[1:6]:
                    self.forget(f"{key}/{name}")
        else:
            self.forget(fixup_key(resolution.head, resolution.path))

    def keep_only(self, text: Text, provenance: Sequence[Provenance]) -> None:
        """Let a variant of a text have this provenance and no other; without any it goes."""
        key = text_key(text.id)
        folder, suffix = self._folder(key), _suffix(text.variant).encode()
        known = self._provenance(folder)
        if provenance:
            known[str(text.variant)] = [one.as_json() for one in provenance]
        else:
            known.pop(str(text.variant), None)
            folder = {
                name: entry
                for name, entry in folder.items()
                if name not in (b"preimage" + suffix, b"postimage" + suffix)
            }
        if provenance or any(_POSTIMAGE.fullmatch(name) for name in folder):
            self._put(key, folder, known)
        else:
            self.flush()
            self._tree = self._objects.edit(self._tree, {key: None})

    def _folder(self, key: str) -> dict[bytes, Entry]:
        if key in self._changed:
            return dict(self._changed[key])
        entry = self._objects.lookup(self._tree, key)
        return dict(self._objects.tree(entry.oid)) if entry and entry.mode == TREE_MODE else {}

    def _names(self, key: str) -> list[str]:
        below = {os.fsdecode(name) for name in self._folder(key)}
        prefix = key + "/"
        below |= {k[len(prefix) :].partition("/")[0] for k in self._changed if k.startswith(prefix)}
        return sorted(below)

    def _put(self, key: str, folder: dict[bytes, Entry], known: Mapping[str, object]) -> None:
        text = json.dumps(known, indent=1, sort_keys=True) + "\n"
        folder[b"provenance"] = Entry(_FILE, self._objects.write_blob(text.encode()))
        self._changed[key] = folder

    def _provenance(self, folder: Mapping[bytes, Entry]) -> dict[str, object]:
        return self._read(folder, dict)

    def _read(self, folder: Mapping[bytes, Entry], parse: Callable[[dict[str, Any]], T]) -> T:
        """What ``parse`` makes of a folder's provenance. Raises StackmergeError where that is damaged."""
        entry = folder.get(b"provenance")
        try:
            return parse(json.loads(self._objects.blob(entry.oid)) if entry else {})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise StackmergeError(
                f"a provenance record in {REF} is damaged ({entry.oid if entry else 'missing'})",
                "go back: `git reflog show` and `update-ref`",
            ) from error
