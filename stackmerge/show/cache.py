"""Recorded resolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from stackmerge.cache import Listed
from stackmerge.explain import as_json, as_text
from stackmerge.objects import Objects
from stackmerge.resolution import Resolution
from stackmerge.screen import SHORT, clean, out, print_json


def resolutions(found: Sequence[Listed], json: bool) -> None:
    """List resolutions."""
    if json:
        print_json({"resolutions": [asdict(one) for one in found]})
        return
    for one in found:
        variant = f".{one.variant}" if one.variant else ""
        out(
            f"{one.id[:SHORT]}{variant}  {one.kind:5}  {clean(one.path or '(path unknown)')}  {clean(one.step)}"
        )


def resolution(found: Sequence[Resolution], objects: Objects, json: bool) -> None:
    """Show one resolution with all its variants."""
    if json:
        print_json({"resolutions": [as_json(one) for one in found]})
        return
    for one in found:
        out("\n".join(clean(line) for line in as_text(one, objects)))
