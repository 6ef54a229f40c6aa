"""What the commands that tell others show."""

from __future__ import annotations

import json as jsonlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from stackmerge import screen
from stackmerge.errors import StackmergeError


def described(texts: Mapping[str, str], out: Path | None, json: bool) -> None:
    """Print descriptions, or write them into a folder."""
    if json:
        _print_json({"descriptions": dict(texts)})
    if out:
        _write(texts, out)
    elif not json:
        sys.stdout.write("\n".join(texts.values()))


def _write(texts: Mapping[str, str], out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for number, (name, text) in enumerate(texts.items(), 1):
            safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "step"
            (out / f"{number:02d}-{safe}.md").write_text(text, encoding="utf-8")
    except OSError as error:
        raise StackmergeError(f"cannot write to {out}: {error.strerror}", "") from error
    screen.said(f"wrote {len(texts)} descriptions to {out}", {}, False)


def _print_json(found: object) -> None:
    sys.stdout.write(jsonlib.dumps(found, indent=2, ensure_ascii=True) + "\n")
