"""The commands of a rebuild: plan, rebuild, continue, abort, status."""

from typing import Annotated

import typer

from stackmerge import screen
from stackmerge.commands.options import (
    HERE,
    MANIFEST,
    ApplyEdits,
    Events,
    File,
    Json,
    Onto,
    Repo,
    open_stack,
    reason_of,
)
from stackmerge.errors import UsageError

app = typer.Typer()


@app.command()
def plan(onto: Onto = None, repo: Repo = HERE, manifest: File = MANIFEST, json: Json = False) -> None:
    """Pin every head and predict each step; writes nothing but objects."""
    from stackmerge.rebuild import predict
    from stackmerge.show import run as show

    stack = open_stack(repo, manifest)
    with stack.repository:
        made, records = predict(stack, onto)
    show.planned(made, records, json)


@app.command()
def rebuild(
    onto: Onto = None,
    first: Annotated[
        str,
        typer.Option("--from", metavar="STEP", help="Begin with this step; take those below as they are."),
    ] = "",
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Skip a step that conflicts, and list them all.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Make every merge again, whatever is known.")
    ] = False,
    gates: Annotated[
        str, typer.Option("--gates", metavar="step|tip|off", help="Which steps to gate first.")
    ] = "step",
    require_gpu: Annotated[
        bool, typer.Option("--require-gpu", help="Fail where a gate that asks for a GPU ran on none.")
    ] = False,
    apply_hazard_edits: ApplyEdits = False,
    events: Events = "",
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Rebuild the stack on a base, one merge at a time."""
    from stackmerge import ahead

    _refuse_two_outputs(events, json)
    stack = open_stack(repo, manifest)
    ahead.begin(stack, onto, fresh=fresh)

    from stackmerge.outcome import Options
    from stackmerge.rebuild import rebuild as run
    from stackmerge.show import run as show
    from stackmerge.show.watching import watching

    options = Options(first, keep_going, fresh, gates, require_gpu, apply_hazard_edits)
    with stack.repository, watching("rebuilding", stack, gated=gates != "off", events=events) as tell:
        outcome = run(stack, onto, options, tell)
    show.rebuilt(outcome, json)
    raise typer.Exit(outcome.exit_code)


@app.command(name="continue")
def continue_(
    accept_failure: Annotated[
        str | None,
        typer.Option("--accept-failure", metavar="REASON", help="Go on in spite of the gate that failed."),
    ] = None,
    apply_hazard_edits: ApplyEdits = False,
    events: Events = "",
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Record what was resolved in the private work tree, and go on."""
    from stackmerge.rebuild import resume
    from stackmerge.show import run as show
    from stackmerge.show.watching import watching

    _refuse_two_outputs(events, json)
    reason = reason_of("--accept-failure", accept_failure)
    stack = open_stack(repo, manifest)
    with stack.repository, watching("rebuilding", stack, gated=True, events=events) as tell:
        outcome = resume(stack, tell, reason, apply_hazard_edits)
    show.rebuilt(outcome, json)
    raise typer.Exit(outcome.exit_code)


@app.command()
def abort(repo: Repo = HERE, manifest: File = MANIFEST, json: Json = False) -> None:
    """Give up the rebuild that is under way; no branch has moved."""
    from stackmerge.rebuild import abort as run

    stack = open_stack(repo, manifest)
    with stack.repository:
        run(stack)
    screen.said("given up; nothing has moved", {"status": "aborted"}, json)


@app.command()
def status(
    watch: Annotated[bool, typer.Option("--watch", help="Show a running rebuild until it ends.")] = False,
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Show the last rebuild: running, stopped, interrupted or done."""
    from stackmerge.progress.situation import situation
    from stackmerge.show import status as show

    stack = open_stack(repo, manifest)
    with stack.repository:
        if watch:
            show.watch(lambda: situation(stack))
        show.status(stack.name, situation(stack), json)


def _refuse_two_outputs(events: str, json: bool) -> None:
    if events == "-" and json:
        raise UsageError(
            "--events - and --json both want standard output",
            "name a file for the events; their last line says how it ended",
        )
