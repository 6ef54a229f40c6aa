"""The command that makes the demo, and runs others on it."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from stackmerge import screen
from stackmerge.commands import accepted, rebuild

app = typer.Typer()


@app.command()
def demo(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where to make it.")],
    go_on: Annotated[
        bool, typer.Option("--run", help="Then rebuild a stack on two newer upstreams, and prove it.")
    ] = False,
    anew: Annotated[bool, typer.Option("--anew", help="Remove an earlier demo there first.")] = False,
) -> None:
    """Make an upstream and a fork in miniature, to try everything on."""
    from stackmerge.demo import build, guide

    found = build.make(directory, anew=anew)
    screen.lines(guide.made(found))
    if go_on:
        gates = "step" if guide.has_engine() else "off"
        if gates == "off":
            screen.warn(guide.NO_ENGINE)
        for base in build.BASES:
            screen.typed(f"stackmerge rebuild --onto {base}")
            _until_it_fails(rebuild.rebuild, onto=base, gates=gates, repo=found.fork)
        screen.typed("stackmerge verify")
        _until_it_fails(accepted.verify, repo=found.fork)
    screen.lines(guide.next_steps(found, ran=go_on))


def _until_it_fails(command: Callable[..., None], **options: object) -> None:
    """Run another command as if it were typed; its exit ends this one only where it failed."""
    try:
        command(**options)
    except typer.Exit as ended:
        if ended.exit_code:
            raise
