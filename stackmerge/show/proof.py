"""The proof of a rebuild."""

from __future__ import annotations

from typing import Any

from stackmerge.proof import Proof, summary
from stackmerge.screen import clean, out, print_json, say


def proved(proof: Proof, json: bool) -> None:
    """Show a proof."""
    found = proof.as_json()
    if json:
        print_json(found)
    else:
        for line in summary(proof):
            out(line)
    proof_lines(found)


def proof_lines(proof: Any) -> None:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(proof["counts"].items()))
    say(f"proof {'holds' if proof['holds'] else 'FAILED'}: {counts or 'nothing differs'}")
    for path in proof["paths"]:
        if path["verdict"] in ("differs", "unproven"):
            say(f"    {clean(path['path'])}: {path['verdict']}")
