"""Recorded resolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from stackmerge.cache import Listed, short_ids
from stackmerge.explain import as_json, as_text
from stackmerge.objects import Objects
from stackmerge.resolution import Resolution
from stackmerge.screen import clean, out, print_json


def resolutions(found: Sequence[Listed], json: bool) -> None:
    """List resolutions."""
    if json:
        print_json({"resolutions": [asdict(one) for one in found]})
        return
    short = short_ids(one.id for one in found)
    width = max((len(one) for one in short.values()), default=0)
    for one in found:
        kind = one.kind + (f".{one.variant}" if one.variant else "")
        path, step = clean(one.path or "(path unknown)"), clean(one.step)
        out(f"{short[one.id]:{width}}  {kind:5}  {path}  {step}".rstrip())


def resolution(found: Sequence[Resolution], objects: Objects, json: bool) -> None:
    """Show one resolution with all its variants."""
    if json:
        print_json({"resolutions": [as_json(one) for one in found]})
        return
    for one in found:
        out("\n".join(clean(line) for line in as_text(one, objects)))
