"""Counts and devices from a JUnit XML report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

_MAX_BYTES = 50_000_000
_MAX_REASONS = 20


@dataclass(frozen=True)
class Report:
    """What a report says: how many tests ended how, why some were skipped, and on which devices they say they ran."""

    counts: dict[str, int] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    skips: dict[str, int] = field(default_factory=dict)


def read(path: Path) -> Report:
    """Read a report; an empty one where there is none or where it is no report."""
    try:
        if not path.is_file() or path.is_symlink() or path.stat().st_size > _MAX_BYTES:
            return Report()
        data = path.read_bytes()
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:  # a gate's tree may be hostile: no entity expansion
            return Report()
        root = ElementTree.fromstring(data)
    except (OSError, ElementTree.ParseError, LookupError, ValueError):  # an encoding that nobody knows, too
        return Report()
    cases = list(root.iter("testcase"))
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    properties = [p for p in root.iter("property") if p.get("name") == "device"]
    devices = {value for p in properties if (value := p.get("value"))}
    skips = [
        (found.get("message") or "no reason given")[:200]
        for case in cases
        if (found := case.find("skipped")) is not None
    ]
    return Report(counts, tuple(sorted(devices)), dict(sorted(Counter(skips).items())[:_MAX_REASONS]))
