"""The commands that tell others: describe, publish, bench serve."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from stackmerge.errors import UsageError

Repo = Annotated[Path, typer.Option("--repo", help="The repository (default: the current directory).")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
File = Annotated[
    str, typer.Option("--manifest", metavar="FILE", help="The manifest, in the top of the repository.")
]
HERE = Path()
MANIFEST = "stackmerge.yaml"
Open = Callable[[Path, str], Any]


def add_to(app: typer.Typer, open_stack: Open) -> None:
    """Add the commands to ``app``; ``open_stack`` opens the stack of a repository and a manifest's name."""
    _add_describe(app, open_stack)
    _add_publish(app, open_stack)


def _add_describe(app: typer.Typer, open_stack: Open) -> None:
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
        from stackmerge import screen_publish
        from stackmerge.describe.describe import describe as run
        from stackmerge.describe.describe import described, newest
        from stackmerge.publish.publish import numbers

        if step and everything:
            raise UsageError("a step and --all exclude each other", "")
        stack = open_stack(repo, manifest)
        with stack.repository:
            names = described(newest(stack)) if everything else [step] if step else []
            texts = run(stack, names, numbers(stack))
        screen_publish.described(texts, out, json)


def _add_publish(app: typer.Typer, open_stack: Open) -> None:
    @app.command()
    def publish(
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Print what would be done, in order.")
        ] = False,
        forge: Annotated[
            str, typer.Option("--forge", metavar="github|gitlab|gitea", help="The kind of forge.")
        ] = "",
        repo: Repo = HERE,
        manifest: File = MANIFEST,
        json: Json = False,
    ) -> None:
        """Push every branch of the accepted rebuild, and bring its pull requests up to date."""
        from stackmerge import screen, screen_publish
        from stackmerge.publish.publish import publish as run

        stack = open_stack(repo, manifest)
        with stack.repository, screen.Progress("publishing") as progress:
            outcome = run(stack, dry=dry_run, forge=forge, tell=progress.line)
        screen_publish.published(outcome, json)
