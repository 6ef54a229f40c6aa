"""One resolution in words: the conflict, the answer and where it comes from."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from stackmerge.objects import Objects
from stackmerge.rawtree import Entry
from stackmerge.resolution import Provenance, Resolution, Text


def as_json(resolution: Resolution) -> dict[str, object]:
    """A resolution as JSON."""
    kind = type(resolution).__name__.lower()
    origin: object
    if isinstance(resolution, Text):
        origin = [one._asdict() for one in resolution.provenance]
    else:
        origin = resolution.provenance._asdict()
    return {**resolution._asdict(), "provenance": origin, "id": resolution.id, "kind": kind}


def as_text(resolution: Resolution, objects: Objects) -> Iterator[str]:
    """A resolution as lines of text, with the difference that it makes."""
    yield f"{type(resolution).__name__.lower()} {resolution.id}"
    provenance = resolution.provenance if isinstance(resolution, Text) else (resolution.provenance,)
    for one in provenance:
        yield from _origin(one)
    if isinstance(resolution, Text):
        before, after = resolution.preimage, resolution.postimage
        yield from _difference(objects.blob(before), objects.blob(after), "conflict", "answer")
        return
    for name in ("base", "ours", "theirs", "answer", "before", "after"):
        if hasattr(resolution, name):
            yield f"    {name:7} {_entry(getattr(resolution, name))}"


def _origin(one: Provenance) -> Iterator[str]:
    where = f"    at {one.path or 'an unknown path'}, {one.source or 'unknown source'}"
    yield where + (f", step {one.step}" if one.step else "") + (f", head {one.head[:12]}" if one.head else "")
    if one.who or one.commit:
        yield f"    by {one.who or 'unknown'}" + (f" in {one.commit[:12]}" if one.commit else "")


def _entry(entry: Entry | None) -> str:
    return f"{entry.mode:06o} {entry.oid}" if entry else "(absent)"


def _difference(old: bytes, new: bytes, old_name: str, new_name: str) -> Iterator[str]:
    lines = [data.decode(errors="replace").splitlines() for data in (old, new)]
    yield from difflib.unified_diff(lines[0], lines[1], old_name, new_name, lineterm="")
