"""The commands of ``stackmerge rerere``."""

from pathlib import Path
from typing import Annotated

import typer

from stackmerge import screen
from stackmerge.commands.options import HERE, Json, Repo

app = typer.Typer(help="The cache of recorded resolutions.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def rerere_list(repo: Repo = HERE, json: Json = False) -> None:
    """List every recorded resolution."""
    from stackmerge.cache import listed
    from stackmerge.repository import Repository
    from stackmerge.show import cache as show

    with Repository(repo) as repository:
        show.resolutions(listed(repository), json)


@app.command("show")
def rerere_show(
    resolution: Annotated[str, typer.Argument(metavar="ID", help="An id, or the start of one.")],
    repo: Repo = HERE,
    json: Json = False,
) -> None:
    """Show one resolution: the conflict, the answer, and where it comes from."""
    from stackmerge.cache import find
    from stackmerge.repository import Repository
    from stackmerge.show import cache as show

    with Repository(repo) as repository:
        show.resolution(find(repository, resolution), repository.objects, json)


@app.command("forget")
def rerere_forget(
    resolution: Annotated[str, typer.Argument(metavar="ID", help="An id, or the start of one.")],
    repo: Repo = HERE,
    json: Json = False,
) -> None:
    """Forget one resolution; the ref's history still has it."""
    from stackmerge.cache import forget
    from stackmerge.repository import Repository

    with Repository(repo) as repository:
        forgotten = forget(repository, resolution)
    screen.said(f"forgotten: {forgotten}", {"forgotten": forgotten}, json)


@app.command("import")
def rerere_import(
    directory: Annotated[
        Path | None, typer.Argument(help="An rr-cache (default: the repository's own).")
    ] = None,
    repo: Repo = HERE,
    json: Json = False,
) -> None:
    """Take over the resolutions of git's own rr-cache."""
    from stackmerge.cache import import_rr_cache
    from stackmerge.repository import Repository

    with Repository(repo) as repository:
        taken = import_rr_cache(repository, directory or repository.common_dir / "rr-cache")
    for path, why in taken.skipped:
        screen.warn(f"skipped {path}: {why}")
    screen.said(
        f"imported {taken.count} resolutions", {"imported": taken.count, "skipped": len(taken.skipped)}, json
    )


@app.command("export")
def rerere_export(
    directory: Annotated[Path, typer.Argument(help="Where to write; a repository's rr-cache, say.")],
    repo: Repo = HERE,
    json: Json = False,
) -> None:
    """Write the text resolutions as an rr-cache that git reads."""
    from stackmerge.cache import export_rr_cache
    from stackmerge.repository import Repository

    with Repository(repo) as repository:
        count = export_rr_cache(repository, directory)
    screen.said(f"exported {count} resolutions to {directory}", {"exported": count}, json)


@app.command("push")
def rerere_push(
    remote: Annotated[str, typer.Argument()] = "origin", repo: Repo = HERE, json: Json = False
) -> None:
    """Share the cache: push it to a remote, on top of what is there."""
    from stackmerge.repository import Repository
    from stackmerge.share import push

    with Repository(repo) as repository:
        sent = push(repository, remote)
    screen.said(f"the cache on {remote} is at {sent[:12]}", {"commit": sent}, json)


@app.command("pull")
def rerere_pull(
    remote: Annotated[str, typer.Argument()] = "origin", repo: Repo = HERE, json: Json = False
) -> None:
    """Take over what others recorded: fetch the cache of a remote and join it with ours."""
    from stackmerge.repository import Repository
    from stackmerge.share import pull

    with Repository(repo) as repository:
        pulled = pull(repository, remote)
    words = f"{pulled.added} resolutions are new"
    if pulled.forgotten:
        words += f", {pulled.forgotten} were forgotten by others"
    screen.said(words, pulled._asdict(), json)
