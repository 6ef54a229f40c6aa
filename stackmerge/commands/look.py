"""The commands that only look: report, doctor."""

from pathlib import Path
from typing import Annotated

import typer

from stackmerge import screen
from stackmerge.commands.options import HERE, MANIFEST, File, Json, Repo, manifest_path, open_stack
from stackmerge.errors import Exit

app = typer.Typer()


@app.command()
def report(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the page there (default: stackmerge-report.html)."),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML, for a CI server.")
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            "--summary",
            metavar="FILE",
            help="Write Markdown for a CI job's page; appended where FILE is $GITHUB_STEP_SUMMARY.",
        ),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Show the last rebuild: one HTML page; with --junit or --summary, only what is asked for."""
    from stackmerge.report.files import write_files

    if open_it or not (junit or summary):
        out = out or Path("stackmerge-report.html")
    stack = open_stack(repo, manifest)
    with stack.repository:
        written = write_files(stack, out, junit, summary)
    screen.said(f"wrote {', '.join(written.values())}", written, json)
    if open_it:
        typer.launch(written["report"])


@app.command()
def doctor(repo: Repo = HERE, manifest: File = MANIFEST, json: Json = False) -> None:
    """Look at git, the repository and this machine, and say what to do."""
    from stackmerge.doctor import BAD, examine
    from stackmerge.repository import Repository
    from stackmerge.show import doctor as show

    with Repository(repo) as repository:
        checks = examine(repository, manifest_path(repository.top, manifest))
    show.examined(checks, json)
    raise typer.Exit(Exit.ERROR if any(check.state == BAD for check in checks) else Exit.DONE)
