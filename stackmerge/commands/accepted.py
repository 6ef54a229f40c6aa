"""The commands about what was accepted: accept, undo, verify."""

from typing import Annotated

import typer

from stackmerge import screen
from stackmerge.commands.options import HERE, MANIFEST, File, Json, Repo, open_stack, reason_of
from stackmerge.errors import Exit

app = typer.Typer()


@app.command()
def accept(
    force: Annotated[
        bool, typer.Option("--force", help="Move branches that stackmerge did not put where they are.")
    ] = False,
    unproven: Annotated[
        str | None, typer.Option("--unproven", metavar="REASON", help="Accept although the proof failed.")
    ] = None,
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Move the branches to the candidate."""
    from stackmerge.rebuild import accept_candidate

    reason = reason_of("--unproven", unproven)
    stack = open_stack(repo, manifest)
    with stack.repository:
        run = accept_candidate(stack, force=force, reason=reason)
    screen.said(f"accepted: {stack.name} is at {run.tip[:12]}", {"status": "accepted", "tip": run.tip}, json)


@app.command()
def undo(
    number: Annotated[
        int | None,
        typer.Argument(metavar="[STATE]", help="The state to go back to (default: the last but one)."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the states that are kept.")] = False,
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Go back to an earlier accepted state."""
    from stackmerge.show import history as show
    from stackmerge.undo import states
    from stackmerge.undo import undo as run

    stack = open_stack(repo, manifest)
    with stack.repository:
        if listed:
            show.states(states(stack), json)
            return
        found = run(stack, number)
    screen.said(f"{stack.name} is back at {found.tip[:12]}", {"status": "undone", "tip": found.tip}, json)


@app.command()
def verify(
    old: Annotated[
        str, typer.Argument(metavar="[OLD NEW]", help="Two tips or state numbers (default: the last two).")
    ] = "",
    new: Annotated[str, typer.Argument(metavar="", show_default=False)] = "",
    old_base: Annotated[str, typer.Option(help="The base of OLD, where it is no state of this stack.")] = "",
    new_base: Annotated[str, typer.Option(help="The base of NEW, where it is no state of this stack.")] = "",
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Prove one rebuild against another, path by path."""
    from stackmerge.show import proof as show
    from stackmerge.verify import verify as run

    stack = open_stack(repo, manifest)
    with stack.repository:
        found = run(stack, old, new, old_base, new_base)
    show.proved(found, json)
    raise typer.Exit(Exit.DONE if found.holds else Exit.PROOF)
