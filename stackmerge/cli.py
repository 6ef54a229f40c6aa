"""The command line: the only place that prints and exits."""

import sys
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command_name
from typer.models import CommandInfo

from stackmerge import cli_hazards, cli_publish, screen
from stackmerge.cli_rerere import app as rerere_app
from stackmerge.errors import Exit, StackmergeError, UsageError
from stackmerge.options import HERE, MANIFEST, ApplyEdits, Events, File, Json, Onto, Repo

app = typer.Typer(
    name="stackmerge",
    help="Rebuild a fork's stack of merges on a new upstream base, and prove the result.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(rerere_app, name="rerere")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"stackmerge {version('stackmerge')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


def _open(repo: Path, manifest: str) -> Any:
    from stackmerge.repository import Repository
    from stackmerge.stack import open_stack

    repository = Repository(repo)
    return open_stack(repository, _manifest_path(repository.top, manifest))


def _refuse_two_outputs(events: str, json: bool) -> None:
    if events == "-" and json:
        raise UsageError(
            "--events - and --json both want standard output",
            "name a file for the events; their last line says how it ended",
        )


def _reason(option: str, given: str | None) -> str:
    """What was given as a reason; empty where the option was not given."""
    if given is not None and not given.strip():
        raise UsageError(f"{option}: give a reason", f'write {option} "why", in a few words')
    return given or ""


def _manifest_path(top: Path, name: str) -> Path:
    path = (top / name).resolve()
    if path.suffix not in (".yaml", ".yml") or not path.is_relative_to(top.resolve()):
        raise UsageError(f"--manifest: {name!r} is not a YAML file inside the repository", "")
    return path


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
        adopted = run(repository, _manifest_path(repository.top, manifest), base, tip, name, progress.line)
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
def plan(onto: Onto = None, repo: Repo = HERE, manifest: File = MANIFEST, json: Json = False) -> None:
    """Pin every head and predict each step; writes nothing but objects."""
    from stackmerge.rebuild import predict
    from stackmerge.show import run as show

    stack = _open(repo, manifest)
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
    stack = _open(repo, manifest)
    ahead.begin(stack, onto, fresh=fresh)

    from stackmerge.rebuild import rebuild as run
    from stackmerge.rebuilding import Options
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
    reason = _reason("--accept-failure", accept_failure)
    stack = _open(repo, manifest)
    with stack.repository, watching("rebuilding", stack, gated=True, events=events) as tell:
        outcome = resume(stack, tell, reason, apply_hazard_edits)
    show.rebuilt(outcome, json)
    raise typer.Exit(outcome.exit_code)


@app.command()
def gate(
    step: Annotated[str, typer.Argument(metavar="[STEP]", help="The step (default: the tip).")] = "",
    only: Annotated[str, typer.Option("--gate", metavar="NAME", help="This gate alone.")] = "",
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Run the gates of a step of the last rebuild again."""
    from stackmerge.rebuild import gate_again
    from stackmerge.show import gates as show
    from stackmerge.show.watching import watching

    stack = _open(repo, manifest)
    with stack.repository, watching("gating", stack, gated=True) as tell:
        results = gate_again(stack, step, only, tell)
    show.gated(results, json)
    raise typer.Exit(Exit.GATE if any(result.bad for result in results) else Exit.DONE)


@app.command()
def bisect(
    gate: Annotated[str, typer.Argument(metavar="GATE", help="The gate that fails at the tip.")],
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Find the first step of the last rebuild that a gate fails on, with as few runs as possible."""
    from stackmerge.rebuild import bisect_gate
    from stackmerge.show import gates as show
    from stackmerge.show.watching import watching

    stack = _open(repo, manifest)
    with stack.repository, watching("bisecting", stack, gated=True) as tell:
        found = bisect_gate(stack, gate, tell)
    show.bisected(found, json)


@app.command()
def abort(repo: Repo = HERE, manifest: File = MANIFEST, json: Json = False) -> None:
    """Give up the rebuild that is under way; no branch has moved."""
    from stackmerge.rebuild import abort as run

    stack = _open(repo, manifest)
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

    stack = _open(repo, manifest)
    with stack.repository:
        if watch:
            show.watch(lambda: situation(stack))
        show.status(stack.name, situation(stack), json)


@app.command()
def doctor(repo: Repo = HERE, manifest: File = MANIFEST, json: Json = False) -> None:
    """Look at git, the repository and this machine, and say what to do."""
    from stackmerge.doctor import BAD, examine
    from stackmerge.repository import Repository
    from stackmerge.show import doctor as show

    with Repository(repo) as repository:
        checks = examine(repository, _manifest_path(repository.top, manifest))
    show.examined(checks, json)
    raise typer.Exit(Exit.ERROR if any(check.state == BAD for check in checks) else Exit.DONE)


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
    stack = _open(repo, manifest)
    with stack.repository:
        written = write_files(stack, out, junit, summary)
    screen.said(f"wrote {', '.join(written.values())}", written, json)
    if open_it:
        typer.launch(written["report"])


@app.command()
def accept(
    force: Annotated[
        bool, typer.Option("--force", help="Move branches that stackmerge did not put where they are.")
    ] = False,
    unproven: Annotated[
        str | None, typer.Option("--unproven", metavar="REASON", help="Accept although the proof failed.")
    ] = None,
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Move the branches to the candidate."""
    from stackmerge.rebuild import accept_candidate

    reason = _reason("--unproven", unproven)
    stack = _open(repo, manifest)
    with stack.repository:
        run = accept_candidate(stack, force=force, reason=reason)
    screen.said(f"accepted: {stack.name} is at {run.tip[:12]}", {"status": "accepted", "tip": run.tip}, json)


@app.command()
def undo(
    number: Annotated[
        int | None,
        typer.Argument(metavar="[STATE]", help="The state to go back to (default: the last but one)."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the states that are kept.")] = False,
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Go back to an earlier accepted state."""
    from stackmerge.show import history as show
    from stackmerge.undo import states
    from stackmerge.undo import undo as run

    stack = _open(repo, manifest)
    with stack.repository:
        if listed:
            show.states(states(stack), json)
            return
        found = run(stack, number)
    screen.said(f"{stack.name} is back at {found.tip[:12]}", {"status": "undone", "tip": found.tip}, json)


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

    stack = _open(repo, manifest)
    with stack.repository, screen.Progress("fetching") as progress:
        found = run(stack, steps or [], progress.line)
    show.updated(found, json)


@app.command()
def verify(
    old: Annotated[
        str, typer.Argument(metavar="[OLD NEW]", help="Two tips or state numbers (default: the last two).")
    ] = "",
    new: Annotated[str, typer.Argument(metavar="", show_default=False)] = "",
    old_base: Annotated[str, typer.Option(help="The base of OLD, where it is no state of this stack.")] = "",
    new_base: Annotated[str, typer.Option(help="The base of NEW, where it is no state of this stack.")] = "",
    repo: Repo = HERE,
    manifest: File = MANIFEST,
    json: Json = False,
) -> None:
    """Prove one rebuild against another, path by path."""
    from stackmerge.show import proof as show
    from stackmerge.verify import verify as run

    stack = _open(repo, manifest)
    with stack.repository:
        found = run(stack, old, new, old_base, new_base)
    show.proved(found, json)
    raise typer.Exit(Exit.DONE if found.holds else Exit.PROOF)


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
            _until_it_fails(rebuild, onto=base, gates=gates, repo=found.fork)
        screen.typed("stackmerge verify")
        _until_it_fails(verify, repo=found.fork)
    screen.lines(guide.next_steps(found, ran=go_on))


def _until_it_fails(command: Callable[..., None], **options: object) -> None:
    """Run another command as if it were typed; its exit ends this one only where it failed."""
    try:
        command(**options)
    except typer.Exit as ended:
        if ended.exit_code:
            raise


cli_publish.add_to(app, _open)
cli_hazards.add_to(app, _open)


_INTERRUPTED = 130  # as a shell counts: 128 and the number of SIGINT
_GOES_ON = {
    "rebuild": "; `stackmerge continue` goes on",
    "continue": "; `stackmerge continue` goes on",
    "publish": "; `stackmerge publish` goes on: what is done is not done twice",
}


def _command(words: list[str]) -> str:
    """The command that was asked for."""
    return next((word for word in words[1:] if not word.startswith("-")), "")


def _narrowed(name: str) -> typer.Typer:
    """The command line with the one command that was asked for: Typer prepares each before it runs one."""
    found = copy(app)
    found.registered_commands = [one for one in app.registered_commands if _name_of(one) == name]
    found.registered_groups = [one for one in app.registered_groups if one.name == name]
    return found if found.registered_commands or found.registered_groups else app


def _name_of(command: CommandInfo) -> str:
    return command.name or get_command_name(command.callback.__name__ if command.callback else "")


def main() -> None:
    """Run the command line; every error becomes one sentence, a hint and an exit code."""
    json = "--json" in sys.argv
    try:
        _narrowed("".join(sys.argv[1:2]))()
    except StackmergeError as error:
        screen.failed(error, json)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, SystemExit) as stop:
        code = stop.code if isinstance(stop, SystemExit) else _INTERRUPTED
        if code == _INTERRUPTED:
            screen.warn(f"interrupted{_GOES_ON.get(_command(sys.argv), '')}")
        sys.exit(code)
    except OSError as error:
        screen.failed(
            StackmergeError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")), json
        )
        sys.exit(Exit.ERROR)
