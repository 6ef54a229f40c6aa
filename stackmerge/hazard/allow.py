"""A person's answers to hazards, as a manifest gives them: the key ``allow`` of a step, or a comment in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from stackmerge.document import Node
from stackmerge.hazard.finding import Allow

_COMMENT = re.compile(r"^\s*#\s*stackmerge:\s*allow\s+([a-z0-9-]+)\s+(\S.*?)\s*$")


def read(node: Node) -> Allow:
    """One entry of ``allow``: the rule and the reason. Raises UsageError."""
    keys = node.map(("rule", "reason"), required=("rule", "reason"))
    return Allow(keys["rule"].line_of_text(), keys["reason"].line_of_text())


def in_comments(path: Path, starts: Iterable[tuple[str, int]]) -> Mapping[str, tuple[Allow, ...]]:
    """By step: what lines like ``# stackmerge: allow RULE REASON`` below its first line say.

    ``starts`` are the steps with their first lines, from 1, in order.
    """
    text = path.read_text("utf-8", "replace")
    if "stackmerge:" not in text:
        return {}
    found: dict[str, tuple[Allow, ...]] = {}
    steps = list(starts)
    for number, line in enumerate(text.split("\n"), 1):
        match = _COMMENT.match(line)
        above = [name for name, first in steps if first <= number]
        if match and above:
            found[above[-1]] = (*found.get(above[-1], ()), Allow(match[1], match[2]))
    return found
