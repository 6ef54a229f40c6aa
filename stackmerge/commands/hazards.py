"""The commands of `stackmerge hazards`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from stackmerge.commands.options import HERE, MANIFEST, File, Json, Repo, open_stack
from stackmerge.errors import Exit

app = typer.Typer(
    help="Rules that name merges which are right in text and wrong at run time.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_(repo: Repo = HERE, json: Json = False) -> None:
    """List the rules: those shipped, and those in the folder `hazards` of the repository."""
    from stackmerge.show import hazards as show

    show.listed(_rules(repo), json)


@app.command("test")
def prove_(
    rule: Annotated[str, typer.Argument(metavar="[ID]", help="One rule (default: all).")] = "",
    repo: Repo = HERE,
    json: Json = False,
) -> None:
    """Prove each rule on its fixtures: silent on base, ours, theirs and good, and not on bad."""
    from stackmerge.hazard.selftest import prove
    from stackmerge.show import hazards as show

    rules = _rules(repo)
    found = prove(rules.only(rule) if rule else rules)
    show.tested(found, json)
    raise typer.Exit(Exit.ERROR if any(proved.problems for proved in found) else Exit.DONE)


@app.command()
def explain(
    rule: Annotated[str, typer.Argument(metavar="ID", help="The rule.")],
    repo: Repo = HERE,
    json: Json = False,
) -> None:
    """Say what a rule is about, and what to do where it fires."""
    from stackmerge.show import hazards as show

    show.explained(_rules(repo).get(rule), json)


@app.command()
def check(
    step: Annotated[str, typer.Argument(metavar="[STEP]", help="The step (default: all).")] = "",
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Ask the rules about the steps of the last rebuild, or of the planned one before the first."""
    from stackmerge.hazard.finding import blocks
    from stackmerge.rebuild import check_hazards
    from stackmerge.show import hazards as show

    stack = open_stack(repo, manifest)
    with stack.repository:
        records = check_hazards(stack, step)
    show.checked(records, json)
    raise typer.Exit(Exit.HAZARD if any(blocks(record.hazards) for record in records) else Exit.DONE)


def _rules(repo: Path) -> Any:
    """The rules of a repository; the shipped ones alone outside of any."""
    from stackmerge.errors import UsageError
    from stackmerge.hazard.library import load
    from stackmerge.repository import Repository

    try:
        repository = Repository(repo)
    except UsageError:
        return load([])
    with repository:
        return load([repository.top / "hazards"])
