"""Path globs of the manifest: ``*`` and ``?`` stay inside a folder, ``**`` crosses folders."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=1000)
def _compiled(pattern: str) -> re.Pattern[str]:
    out = ""
    for part in re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?)", pattern):
        out += {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(
            part, re.escape(part)
        )
    return re.compile(out, re.DOTALL)


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Does any of the patterns match the whole path?"""
    return any(_compiled(pattern).fullmatch(path) for pattern in patterns)
