"""What was adopted, learned, fetched and accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from stackmerge.adopt import Adopted
from stackmerge.screen import SHORT, out, print_json, said, say, table, warn
from stackmerge.train import Trained
from stackmerge.undo import State
from stackmerge.update import Updated


def adopted(adopted: Adopted, json: bool) -> None:
    """Show what was adopted."""
    path = adopted.stack.manifest.path
    text = f"wrote {path.name}: {adopted.steps} steps on {adopted.stack.manifest.base[:SHORT]}"
    found = {
        "manifest": str(path),
        "stack": adopted.stack.name,
        "steps": adopted.steps,
        "trained": asdict(adopted.trained),
    }
    said(text, found, json)
    _trained(adopted.trained)


def trained(found: Trained, json: bool) -> None:
    """Show what training learned."""
    if json:
        print_json(asdict(found))
    _trained(found)


def _trained(found: Trained) -> None:
    say(
        f"learned from {found.merges} merges, {found.conflicted} of them conflicted: "
        f"{found.text} text, {found.exact} exact, {found.fixup} fixup"
    )
    for one in found.skipped:
        warn(f"not looked at: {one}")


def updated(found: Sequence[Updated], json: bool) -> None:
    """Show what `update` pinned."""
    if json:
        print_json({"steps": [asdict(one) for one in found]})
    rows = [(one.name, one.old[:SHORT], one.new[:SHORT], _change(one)) for one in found]
    table("", ("step", "was", "is", ""), rows)


def _change(one: Updated) -> str:
    if one.note or one.old == one.new:
        return one.note or "unchanged"
    return f"{one.commits} new commits" + (", rewritten" if one.rewritten else "")


def states(found: Sequence[State], json: bool) -> None:
    """Show the states that can be gone back to."""
    if json:
        print_json({"states": [asdict(one) for one in found]})
        return
    for one in found:
        again = f"  undo: state {one.again} again" if one.again else ""
        out(f"{'*' if one.current else ' '} {one.number:3}  {one.tip[:SHORT]} on {one.base[:SHORT]}{again}")
