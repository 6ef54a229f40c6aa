"""The commands that take in what others made: adopt, train, update."""

from typing import Annotated

import typer

from stackmerge import screen
from stackmerge.commands.options import HERE, MANIFEST, File, Json, Repo, manifest_path, open_stack
from stackmerge.errors import Exit

app = typer.Typer()


@app.command()
def adopt(
    base: Annotated[str, typer.Option(help="The upstream commit that the stack stands on.")],
    tip: Annotated[str, typer.Option(help="The tip of the stack: the deploy branch.")],
    name: Annotated[str, typer.Option(help="The stack's name (default: the tip's branch).")] = "",
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Make a manifest and a lock from an existing history, and train on it."""
    from stackmerge.adopt import adopt as run
    from stackmerge.repository import Repository
    from stackmerge.show import history as show

    with Repository(repo) as repository, screen.Progress("adopting") as progress:
        adopted = run(repository, manifest_path(repository.top, manifest), base, tip, name, progress.line)
        show.adopted(adopted, json)


@app.command()
def train(
    revrange: Annotated[
        list[str], typer.Argument(metavar="REVRANGE...", help="Merges to learn from, like v1.0..main.")
    ],
    first_parent: Annotated[
        bool,
        typer.Option(
            "--first-parent", help="Only the merges on the branch itself, not those that came with it."
        ),
    ] = False,
    repo: Repo = HERE,
    json: Json = False,
) -> None:
    """Re-merge every merge commit of a range and learn what its author did."""
    from stackmerge.repository import Repository
    from stackmerge.show import history as show
    from stackmerge.train import merges_of
    from stackmerge.train import train as run

    with Repository(repo) as repository, screen.Progress("training") as progress:
        commits = merges_of(repository, revrange, first_parent=first_parent)
        repository.keep_commit_graph()
        show.trained(run(repository, commits, progress.line), json)


@app.command()
def update(
    steps: Annotated[
        list[str] | None, typer.Argument(metavar="[STEP]...", help="The steps (default: all).")
    ] = None,
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Fetch the heads of steps, show what changed, and pin them."""
    from stackmerge.show import history as show
    from stackmerge.update import update as run

    stack = open_stack(repo, manifest)
    with stack.repository, screen.Progress("fetching") as progress:
        found = run(stack, steps or [], progress.line)
    show.updated(found, json)
    if any(one.failed for one in found):
        screen.warn(
            "what could not be fetched is pinned as before; is it gone? then take its step out or rename it"
        )
        raise typer.Exit(Exit.ERROR)
