"""The commands that tell others: describe, publish, bench serve."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from stackmerge.errors import UsageError
from stackmerge.options import HERE, MANIFEST, File, Json, Repo

Open = Callable[[Path, str], Any]


def add_to(app: typer.Typer, open_stack: Open) -> None:
    """Add the commands to ``app``; ``open_stack`` opens the stack of a repository and a manifest's name."""
    _add_describe(app, open_stack)
    _add_publish(app, open_stack)
    bench = typer.Typer(
        help="Benchmarks as evidence for a step.", no_args_is_help=True, rich_markup_mode=None
    )
    app.add_typer(bench, name="bench")
    _add_serve(bench, open_stack)


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
        from stackmerge import screen
        from stackmerge.publish.publish import publish as run
        from stackmerge.show import publish as show

        stack = open_stack(repo, manifest)
        with stack.repository, screen.Progress("publishing") as progress:
            outcome = run(stack, dry=dry_run, forge=forge, tell=progress.line)
        show.published(outcome, json)


def _add_serve(app: typer.Typer, open_stack: Open) -> None:
    @app.callback()
    def _bench() -> None:
        """Benchmarks as evidence for a step."""

    @app.command()
    def serve(
        url: Annotated[str, typer.Option(help="The server, like http://127.0.0.1:8000/v1.")],
        model: Annotated[str, typer.Option(help="The model's name there.")],
        step: Annotated[str, typer.Option(help="Keep the result in the journal, for this step.")] = "",
        side: Annotated[
            str,
            typer.Option(
                metavar="before|after", help="Does the server run what is below the step, or the step?"
            ),
        ] = "after",
        tokens: Annotated[int, typer.Option(help="Tokens a request.")] = 256,
        concurrency: Annotated[int, typer.Option(help="Requests at a time.")] = 1,
        requests: Annotated[int, typer.Option(help="Requests a run.")] = 4,
        runs: Annotated[int, typer.Option(help="Runs.")] = 3,
        server: Annotated[str, typer.Option(help="How the server was started, for the description.")] = "",
        repo: Repo = HERE,
        manifest: File = MANIFEST,
        json: Json = False,
    ) -> None:
        """Measure an OpenAI-compatible server with streamed chat completions."""
        from stackmerge import screen
        from stackmerge.serving.keep import check, keep
        from stackmerge.serving.measure import Workload, measure
        from stackmerge.show import publish as show

        load = Workload(url, model, tokens, concurrency, requests, runs)
        stack = open_stack(repo, manifest) if step else None
        if stack:
            check(stack, step, side)
        with screen.Progress("measuring") as progress:
            found = measure(load, progress.line)
        if stack:
            with stack.repository:
                keep(stack, step, side, load, found, server)
        show.measured(load, found, json)
