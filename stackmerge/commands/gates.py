"""The commands that run gates by themselves: gate, bisect."""

from typing import Annotated

import typer

from stackmerge.commands.options import HERE, MANIFEST, File, Json, Repo, open_stack
from stackmerge.errors import Exit

app = typer.Typer()


@app.command()
def gate(
    step: Annotated[str, typer.Argument(metavar="[STEP]", help="The step (default: the tip).")] = "",
    only: Annotated[str, typer.Option("--gate", metavar="NAME", help="This gate alone.")] = "",
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Run the gates of a step of the last rebuild again."""
    from stackmerge.rebuild import gate_again
    from stackmerge.show import gates as show
    from stackmerge.show.watching import watching

    stack = open_stack(repo, manifest)
    with stack.repository, watching("gating", stack, gated=True) as tell:
        results = gate_again(stack, step, only, tell)
    show.gated(results, json)
    raise typer.Exit(Exit.GATE if any(result.bad for result in results) else Exit.DONE)


@app.command()
def bisect(
    gate: Annotated[str, typer.Argument(metavar="GATE", help="The gate that fails at the tip.")],
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Find the first step of the last rebuild that a gate fails on, with as few runs as possible."""
    from stackmerge.rebuild import bisect_gate
    from stackmerge.show import gates as show
    from stackmerge.show.watching import watching

    stack = open_stack(repo, manifest)
    with stack.repository, watching("bisecting", stack, gated=True) as tell:
        found = bisect_gate(stack, gate, tell)
    show.bisected(found, json)
