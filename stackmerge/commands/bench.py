"""The commands of `stackmerge bench`."""

from typing import Annotated

import typer

from stackmerge.commands.options import HERE, MANIFEST, File, Json, Repo, open_stack

app = typer.Typer(help="Benchmarks as evidence for a step.", no_args_is_help=True, rich_markup_mode=None)


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
        typer.Option(metavar="before|after", help="Does the server run what is below the step, or the step?"),
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
