"""What the command line shows: progress and tables on standard error, results and JSON on standard output."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from stackmerge.errors import StackmergeError
from stackmerge.gate.outcome import GateResult, tail, unproven_on_gpu

if TYPE_CHECKING:
    from stackmerge.adopt import Adopted
    from stackmerge.cache import Listed
    from stackmerge.gated import Bisected
    from stackmerge.journal import Run, StepRecord
    from stackmerge.objects import Objects
    from stackmerge.plan import Plan, PlannedStep
    from stackmerge.proof import Proof
    from stackmerge.rebuild import Outcome
    from stackmerge.resolution import Resolution
    from stackmerge.train import Trained
    from stackmerge.undo import State
    from stackmerge.update import Updated

_SHORT = 12


def clean(text: str) -> str:
    """Text from a stranger for a terminal: control and bidirectional characters made visible."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _print_json(found: object) -> None:
    sys.stdout.write(jsonlib.dumps(found, indent=2, ensure_ascii=True) + "\n")


def _say(line: str = "") -> None:
    sys.stderr.write(line + "\n")


def warn(text: str) -> None:
    _say(f"warning: {clean(text)}")


def failed(error: StackmergeError, json: bool) -> None:
    """Show an error: one sentence, and the hint on its own line."""
    if json:
        _print_json({"status": "error", "error": error.message, "hint": error.hint})
    _say(f"error: {clean(error.message)}")
    if error.hint:
        _say(f"hint: {clean(error.hint)}")


def said(text: str, found: object, json: bool) -> None:
    """Show a one-line result."""
    if json:
        _print_json(found)
    else:
        print(clean(text))


def lines(found: Iterable[str]) -> None:
    """Show text as it is."""
    for line in found:
        print(line)
    sys.stdout.flush()


def typed(command: str) -> None:
    """Show a command that the demo runs, as if it were typed."""
    lines(["", f"$ {command}"])


class Progress:
    """One live line on standard error; silent where that is no terminal."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._live = sys.stderr.isatty()
        self._replayed = 0
        self._done = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")

    def line(self, text: str) -> None:
        if self._live:
            shown = clean(f"{self._verb}: {text}")[: _columns() - 1]
            sys.stderr.write(f"\r\x1b[K{shown}")
            sys.stderr.flush()

    def step(self, step: PlannedStep, record: StepRecord | None) -> None:
        """Called before and after each step of a rebuild."""
        if record is None:
            self.line(f"{self._done + 1}. {step.name} ({self._replayed} replayed so far)")
            return
        self._done += 1
        self._replayed += len(record.resolutions)


def _columns() -> int:
    import shutil

    return shutil.get_terminal_size().columns


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on standard error; aligned plain text where that is no terminal."""
    if not sys.stderr.isatty():
        _plain_table(columns, [[clean(cell) for cell in row] for row in rows])
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    console.print(table)


def _plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    for row in [columns, *rows]:
        _say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _step_json(record: StepRecord) -> dict[str, object]:
    return {
        "name": record.name,
        "kind": record.kind,
        "head": record.head,
        "commit": record.commit,
        "tree": record.tree,
        "outcome": record.outcome,
        "landed": record.landed,
        "reused": record.reused,
        "conflicts": [asdict(conflict) for conflict in record.conflicts],
        "resolutions": [
            {"path": u.path, "kind": u.kind, "id": u.id, "provenance": u.provenance.as_json()}
            for u in record.resolutions
        ],
        "elapsed_s": record.elapsed_s,
    }


def _run_json(run: Run) -> dict[str, Any]:
    records = run.by_name
    tree = run.steps[-1].tree if run.steps else ""
    not_made = [
        {"name": s.name, "kind": s.kind, "head": s.head, "commit": "", "tree": "", "outcome": "skipped"}
        for s in run.plan.steps
        if s.name not in records
    ]
    return {
        "status": run.status,
        "state": run.state,
        "stack": run.plan.stack,
        "base": run.plan.base,
        "tip": run.tip,
        "tree": tree,
        "steps": [*(_step_json(record) for record in run.steps), *not_made],
        "proof": run.proof,
        "gates": [{**result.as_json(), "words": result.words} for result in run.gates],
        "proven_on_gpu": not unproven_on_gpu(run.gates),
        "elapsed_s": run.elapsed_s,
    }


def rebuilt(outcome: Outcome, json: bool) -> None:
    """Show how a rebuild ended."""
    run = outcome.run
    if json:
        extra = {"note": outcome.note, "hint": outcome.hint, "worktree": outcome.worktree}
        _print_json({**_run_json(run), **{key: value for key, value in extra.items() if value}})
    _steps(run.steps)
    for record in run.steps:
        _conflicts(record)
    if run.status == "conflict" and outcome.worktree:
        _say(f"stopped at {clean(run.steps[-1].name)}: resolve the conflict in {outcome.worktree},")
        _say("`git add` the files there, then run `stackmerge continue` (or `stackmerge abort`)")
    elif run.status == "conflict":
        _say("steps with conflicts were left out; rebuild without --keep-going to resolve them one by one")
    if run.proof:
        _proof_lines(run.proof)
    _gate_lines(run.gates)
    if run.status == "gate":
        _gate_stop(run.gates)
    if run.status == "proof":
        _say("the proof failed: branches stay where they are; see `stackmerge verify`")
    if run.status == "complete":
        moved = "accepted" if run.state == "accepted" else run.state
        _say(f"{moved}: {clean(run.plan.stack)} at {run.tip[:_SHORT]} on {run.plan.base[:_SHORT]}")
    if outcome.note:
        _say(clean(outcome.note))
        _say(f"hint: {clean(outcome.hint)}")


def _gate_lines(results: Sequence[GateResult]) -> None:
    """What the gates proved, the same words counted together; what failed or did not run stands alone."""
    groups: dict[tuple[str, str], list[GateResult]] = {}
    for result in results:
        groups.setdefault((result.gate, result.words), []).append(result)
    for (gate, words), members in groups.items():
        known = sum(result.cached for result in members)
        where = f"{len(members)} steps" if len(members) > 1 else members[0].step
        _say(f"gate {clean(gate)}: {clean(words)}: {clean(where)}" + (f" ({known} known)" if known else ""))
    if unproven_on_gpu(results):
        names = sorted({result.gate for result in unproven_on_gpu(results)})
        _say(f"not proven on a GPU: {clean(', '.join(names))}")


def _gate_stop(results: Sequence[GateResult]) -> None:
    failed = next((result for result in reversed(results) if result.bad), None)
    if failed is None:
        _say("a gate that asks for a GPU has not passed on one, and --require-gpu was given")
        return
    _say(
        f"stopped at {clean(failed.step)}: the gate {clean(failed.gate)} {failed.words}; the end of its log:"
    )
    for line in tail(failed.log):
        _say(f"    {clean(line)}")
    _say(f"the whole log: {failed.log}")
    _say("`stackmerge continue` runs it again; `continue --accept-failure REASON` goes on all the same")


def gated(results: Sequence[GateResult], json: bool) -> None:
    """Show what gates proved."""
    if json:
        _print_json({"gates": [{**result.as_json(), "words": result.words} for result in results]})
    _gate_lines(results)
    for result in results:
        if result.bad:
            _gate_stop([result])


def bisected(found: Bisected, json: bool) -> None:
    """Show the first bad step."""
    if json:
        _print_json({"step": found.result.step if found.result else None, "runs": found.runs})
        return
    if found.result is None:
        print(f"the gate passes at the tip ({found.runs} run)")
        return
    print(f"{clean(found.result.step)} is the first bad step ({found.runs} runs)")
    _gate_stop([found.result])


def _steps(records: Sequence[StepRecord]) -> None:
    rows = [
        (str(i), r.name, r.outcome + (" (known)" if r.reused else ""), r.commit[:_SHORT], _detail(r))
        for i, r in enumerate(records, 1)
    ]
    if rows:
        _table("", ("", "step", "outcome", "commit", ""), rows)


def _detail(record: StepRecord) -> str:
    if record.landed:
        return record.landed
    counts = {
        kind: sum(u.kind == kind for u in record.resolutions) for kind in ("text", "exact", "policy", "fixup")
    }
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def _conflicts(record: StepRecord) -> None:
    for conflict in record.unresolved:
        _say(f"{clean(record.name)}: {clean(conflict.path)} ({conflict.kind}): {clean(conflict.reason)}")
        if conflict.where == "base":
            _say("    the head conflicts with the bare base")
        elif conflict.where:
            _say(f"    it conflicts only with an earlier step: {clean(conflict.where)}")


def _proof_lines(proof: Any) -> None:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(proof["counts"].items()))
    _say(f"proof {'holds' if proof['holds'] else 'FAILED'}: {counts or 'nothing differs'}")
    for path in proof["paths"]:
        if path["verdict"] in ("differs", "unproven"):
            _say(f"    {clean(path['path'])}: {path['verdict']}")


def proved(proof: Proof, json: bool) -> None:
    """Show a proof."""
    found = proof.as_json()
    if json:
        _print_json(found)
    else:
        from stackmerge.proof import summary

        for line in summary(proof):
            print(line)
    _proof_lines(found)


def planned(plan: Plan, records: Sequence[StepRecord], json: bool) -> None:
    """Show what a rebuild would do."""
    if json:
        steps = [_step_json(record) for record in records]
        _print_json({"stack": plan.stack, "base": plan.base, "old_base": plan.old_base, "steps": steps})
    _say(f"{clean(plan.stack)} on {plan.base[:_SHORT]} (now on {plan.old_base[:_SHORT] or 'nothing'})")
    _steps(records)
    for record in records:
        _conflicts(record)


def status(stack: str, outcome: Outcome | None, json: bool) -> None:
    """Show the last rebuild."""
    if outcome is None:
        said(f"{stack} has not been rebuilt yet", {"stack": stack, "status": "none"}, json)
        return
    rebuilt(outcome, json)


def adopted(adopted: Adopted, json: bool) -> None:
    """Show what was adopted."""
    path = adopted.stack.manifest.path
    text = f"wrote {path.name}: {adopted.steps} steps on {adopted.stack.manifest.base[:_SHORT]}"
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
        _print_json(asdict(found))
    _trained(found)


def _trained(found: Trained) -> None:
    _say(
        f"learned from {found.merges} merges, {found.conflicted} of them conflicted: "
        f"{found.text} text, {found.exact} exact, {found.fixup} fixup"
    )
    for one in found.skipped:
        warn(f"not looked at: {one}")


def updated(found: Sequence[Updated], json: bool) -> None:
    """Show what `update` pinned."""
    if json:
        _print_json({"steps": [asdict(one) for one in found]})
    rows = [(one.name, one.old[:_SHORT], one.new[:_SHORT], _change(one)) for one in found]
    _table("", ("step", "was", "is", ""), rows)


def _change(one: Updated) -> str:
    if one.note or one.old == one.new:
        return one.note or "unchanged"
    return f"{one.commits} new commits" + (", rewritten" if one.rewritten else "")


def states(found: Sequence[State], json: bool) -> None:
    """Show the states that can be gone back to."""
    if json:
        _print_json({"states": [asdict(one) for one in found]})
        return
    for one in found:
        print(f"{'*' if one.current else ' '} {one.number:3}  {one.tip[:_SHORT]} on {one.base[:_SHORT]}")


def resolutions(found: Sequence[Listed], json: bool) -> None:
    """List resolutions."""
    if json:
        _print_json({"resolutions": [asdict(one) for one in found]})
        return
    for one in found:
        variant = f".{one.variant}" if one.variant else ""
        print(
            f"{one.id[:_SHORT]}{variant}  {one.kind:5}  {clean(one.path or '(path unknown)')}  {clean(one.step)}"
        )


def resolution(found: Sequence[Resolution], objects: Objects, json: bool) -> None:
    """Show one resolution with all its variants."""
    from stackmerge.explain import as_json, as_text

    if json:
        _print_json({"resolutions": [as_json(one) for one in found]})
        return
    for one in found:
        print("\n".join(clean(line) for line in as_text(one, objects)))
