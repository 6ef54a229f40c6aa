"""The line that a running gate printed last."""

from __future__ import annotations

import os
import re

_READ = 4096
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


def last_line(log: str) -> str:
    """The last line in ``log`` that is not blank, without colours; empty where there is none.

    A progress bar that goes back to the start of its line counts as its newest state.
    """
    try:
        with open(log, "rb") as file:  # noqa: PTH123 - opened five times a second
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - _READ))
            data = file.read(_READ)
    except OSError:
        return ""
    text = _ESCAPE.sub("", data.decode(errors="replace"))
    return next((line.strip() for line in reversed(re.split(r"[\r\n]+", text)) if line.strip()), "")
