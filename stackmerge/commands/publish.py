"""The commands that tell others: describe, publish."""

from pathlib import Path
from typing import Annotated

import typer

from stackmerge.commands.options import HERE, MANIFEST, File, Json, Repo, open_stack
from stackmerge.errors import UsageError

app = typer.Typer()


@app.command()
def describe(
    step: Annotated[str, typer.Argument(metavar="[STEP]", help="The step (default: the top one).")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Every step.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write NN-STEP.md files into this folder.")] = None,
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Write the text of a step's pull request, from the journal."""
    from stackmerge.describe.describe import describe as run
    from stackmerge.describe.describe import described, newest
    from stackmerge.publish.publish import numbers
    from stackmerge.show import publish as show

    if step and everything:
        raise UsageError("a step and --all exclude each other", "")
    stack = open_stack(repo, manifest)
    with stack.repository:
        names = described(newest(stack)) if everything else [step] if step else []
        texts = run(stack, names, numbers(stack))
    show.described(texts, out, json)


@app.command()
def publish(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be done, in order.")] = False,
    forge: Annotated[
        str, typer.Option("--forge", metavar="github|gitlab|gitea", help="The kind of forge.")
    ] = "",
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Push every branch of the accepted rebuild, and bring its pull requests up to date."""
    from stackmerge import screen
    from stackmerge.publish.publish import publish as run
    from stackmerge.show import publish as show

    stack = open_stack(repo, manifest)
    with stack.repository, screen.Progress("publishing") as progress:
        outcome = run(stack, dry=dry_run, forge=forge, tell=progress.line)
    show.published(outcome, json)
