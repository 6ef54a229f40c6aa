"""What gates proved."""

from __future__ import annotations

from collections.abc import Sequence

from stackmerge.gate.outcome import GateResult, tail, unproven_on_gpu
from stackmerge.gated import Bisected
from stackmerge.screen import clean, out, print_json, say


def gated(results: Sequence[GateResult], json: bool) -> None:
    """Show what gates proved."""
    if json:
        print_json({"gates": [{**result.as_json(), "words": result.words} for result in results]})
    if not results:
        say("no gate is for this step")
    gate_lines(results)
    for result in results:
        if result.bad:
            _failure(result)


def bisected(found: Bisected, json: bool) -> None:
    """Show the first bad step."""
    if json:
        print_json({"step": found.result.step if found.result else None, "runs": found.runs})
        return
    if found.result is None:
        out(f"the gate passes at the tip ({found.runs} run)")
        return
    out(f"{clean(found.result.step)} is the first bad step ({found.runs} runs)")
    _failure(found.result)


def gate_lines(results: Sequence[GateResult]) -> None:
    """What the gates proved, the same words counted together; what failed or did not run stands alone."""
    groups: dict[tuple[str, str], list[GateResult]] = {}
    for result in results:
        groups.setdefault((result.gate, result.words), []).append(result)
    for (gate, words), members in groups.items():
        known = sum(result.cached for result in members)
        where = f"{len(members)} steps" if len(members) > 1 else members[0].step
        say(f"gate {clean(gate)}: {clean(words)}: {clean(where)}" + (f" ({known} known)" if known else ""))
    for gate, note in dict.fromkeys((result.gate, result.note) for result in results if result.note):
        say(f"gate {clean(gate)}: {clean(note)}")
    if unproven_on_gpu(results):
        names = sorted({result.gate for result in unproven_on_gpu(results)})
        say(f"not proven on a GPU: {clean(', '.join(names))}")


def gate_stop(results: Sequence[GateResult], worktree: str = "") -> None:
    """Show the gate that stopped a rebuild, the end of its log, and how to go on."""
    failed = next((result for result in reversed(results) if result.bad), None)
    if failed is None:
        say("a gate that asks for a GPU has not passed on one, and --require-gpu was given")
        return
    _failure(failed, f"stopped at {clean(failed.step)}: ")
    if worktree:
        say(f"the step is checked out in {worktree}: mend it there, `git add`, and")
    say("`stackmerge continue` runs the gate again; `continue --accept-failure REASON` goes on all the same")


def _failure(result: GateResult, before: str = "") -> None:
    """Show a gate that failed, and the end of its log."""
    lines = tail(result.log)
    said = f"{before}the gate {clean(result.gate)} {result.words}"
    say(f"{said}; the end of its log:" if lines else said)
    for line in lines:
        say(f"    {clean(line)}")
    say(f"the whole log: {result.log}")
