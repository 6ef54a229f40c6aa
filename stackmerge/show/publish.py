"""What the commands that tell others show."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stackmerge import screen
from stackmerge.errors import StackmergeError

if TYPE_CHECKING:
    from stackmerge.publish.publish import Outcome
    from stackmerge.serving.measure import Measured, Workload
    from stackmerge.serving.record import Figure


def described(texts: Mapping[str, str], out: Path | None, json: bool) -> None:
    """Print descriptions, or write them into a folder."""
    if out:
        _write(texts, out)
    if json:
        screen.print_json({"descriptions": dict(texts)})
    elif out:
        screen.out(f"wrote {len(texts)} descriptions to {out}")
    else:
        sys.stdout.write("\n".join(texts.values()))


def published(outcome: Outcome, json: bool) -> None:
    """Show what was done, or what would be."""
    from stackmerge.publish.actions import as_json

    if json:
        pulls = {
            step: {"number": p.number, "url": p.url, "head": p.head_sha} for step, p in outcome.pulls.items()
        }
        screen.print_json(
            {
                "status": "planned" if outcome.dry else "published",
                "actions": [as_json(action) for action in outcome.actions],
                "notes": list(outcome.notes),
                "pulls": pulls,
                "written": outcome.written,
            }
        )
        return
    for note in outcome.notes:
        screen.warn(note)
    for action in outcome.actions:
        screen.out(screen.clean(action.words))
    for step, pull in outcome.pulls.items() if outcome.written else ():
        screen.out(screen.clean(f"{step}: {pull.url}"))
    if not outcome.actions:
        screen.out("everything is published already")


def measured(load: Workload, found: Measured, json: bool) -> None:
    """Show what a server did: the median of each metric and its spread."""
    from stackmerge.serving.record import figures

    shown = figures(found.runs, load.concurrency)
    if json:
        screen.print_json(
            {
                "workload": vars(load),
                "runs": [{**vars(run), "tokens_per_s": run.tokens_per_s} for run in found.runs],
                "figures": [
                    {"metric": f.metric, "unit": f.unit, "median": f.middle, "spread": f.spread}
                    for f in shown
                ],
                "notes": list(found.notes),
            }
        )
    for note in found.notes:
        screen.warn(note)
    if not json:
        rows = [_row(one) for one in shown]
        screen.table("", ("metric", "median", "spread", "runs"), rows)


def _row(one: Figure) -> tuple[str, str, str, str]:
    values = ", ".join(f"{value:.1f}" for value in one.values)
    return one.metric, f"{one.middle:.1f} {one.unit}", f"{one.spread * 100:.1f} %", values


def _write(texts: Mapping[str, str], out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for number, (name, text) in enumerate(texts.items(), 1):
            safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "step"
            (out / f"{number:02d}-{safe}.md").write_text(text, encoding="utf-8")
    except OSError as error:
        raise StackmergeError(f"cannot write to {out}: {error.strerror}", "") from error
