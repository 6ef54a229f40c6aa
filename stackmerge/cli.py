"""The command line: with `commands` and `screen` the only place that prints and exits."""

import sys
from copy import copy
from typing import Annotated

import typer
from typer.main import get_command_name
from typer.models import CommandInfo

from stackmerge import screen
from stackmerge.commands import accepted, bench, demo, gates, hazards, history, look, publish, rebuild, rerere
from stackmerge.errors import Exit, StackmergeError

app = typer.Typer(
    name="stackmerge",
    help="Rebuild a fork's stack of merges on a new upstream base, and prove the result.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _commands in (history, rebuild, accepted, gates, publish, look, demo):
    app.registered_commands += _commands.app.registered_commands
app.add_typer(rerere.app, name="rerere")
app.add_typer(hazards.app, name="hazards")
app.add_typer(bench.app, name="bench")
_INTERRUPTED = 130  # as a shell counts: 128 and the number of SIGINT
_GOES_ON = {
    "rebuild": "; `stackmerge continue` goes on",
    "continue": "; `stackmerge continue` goes on",
    "publish": "; `stackmerge publish` goes on: what is done is not done twice",
}


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
            words = f"interrupted{_GOES_ON.get(_command(sys.argv), '')}"
            screen.warn(words)
            if json:
                screen.print_json({"status": "error", "error": words})
        sys.exit(code)
    except OSError as error:
        screen.failed(
            StackmergeError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")), json
        )
        sys.exit(Exit.ERROR)
