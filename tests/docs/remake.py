"""Write into pages what their commands show now: ``python -m tests.docs.remake docs/tutorial.md ...``.

Only outputs that are wrong are replaced, `...` in them included; look at the difference before you commit it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.docs.places import make_demo, reader

_LONG, _KEPT = 12, 5  # lines of JSON


def remake(page: Path, demo: Path) -> int:
    """Correct one page; how many outputs were wrong."""
    with tempfile.TemporaryDirectory() as root, reader(page, Path(root), demo) as somebody:
        wrong = [done for done in somebody.follow(page) if done.problem]
    lines = page.read_text(encoding="utf-8").splitlines()
    for done in reversed(wrong):
        if done.code != done.command.code:
            print(done.problem)
        elif done.command.shown is not None:
            first = done.command.line
            shown = [line.rstrip() for line in done.output.splitlines()]
            if "--json" in done.command.text and len(shown) > _LONG:
                shown[_KEPT:] = ["..."]
            lines[first : first + len(done.command.shown)] = shown
    page.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(wrong)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        made = make_demo(Path(place))
        for name in sys.argv[1:]:
            print(f"{name}: {remake(Path(name).resolve(), made)} outputs were wrong")
