"""What `doctor` found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from stackmerge.doctor import Check
from stackmerge.screen import clean, out, print_json


def examined(checks: Sequence[Check], json: bool) -> None:
    """Show each check, and below it what to do."""
    if json:
        print_json({"checks": [asdict(check) for check in checks]})
        return
    width = max(len(check.name) for check in checks)
    for check in checks:
        out(f"{check.state:4}  {check.name.ljust(width)}  {clean(check.found)}")
        if check.do:
            out(f"      {' ' * width}  {clean(check.do)}")
