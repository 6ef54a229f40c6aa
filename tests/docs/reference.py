"""What the pages of docs/commands/ say of each command, and what the command line says of itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer.main

from stackmerge.cli import app
from tests.docs.reader import Done

SHARED = {"--repo", "--manifest", "--json", "--help"}  # said once, in the index


@dataclass(frozen=True)
class Parameter:
    """An option by its first name, or an argument by its word; its default as a page writes it."""

    name: str
    default: str


def built() -> dict[str, list[Parameter]]:
    """The parameters of each command that the command line has, by the command's full name."""
    return dict(_built("stackmerge", typer.main.get_command(app)))


def _built(name: str, command: Any) -> Iterator[tuple[str, list[Parameter]]]:
    inner = getattr(command, "commands", {})
    if not inner or name == "stackmerge":
        yield name, [_parameter(one) for one in command.params if one.metavar != ""]
    for word, one in inner.items():
        yield from _built(f"{name} {word}", one)


def _parameter(found: Any) -> Parameter:
    word = found.opts[0] if found.param_type_name == "option" else (found.metavar or found.name.upper())
    if found.required:
        return Parameter(word.strip("[]"), "required")
    plain = found.default in (None, False, "", ()) or found.name == "repo"
    return Parameter(re.sub(r"[\[\]]", "", word), "" if plain else str(found.default))


@dataclass(frozen=True)
class Section:
    """What a page says of one command, below the heading that is its name."""

    command: str
    page: Path
    text: str

    def rows(self, *heads: str) -> dict[str, list[str]]:
        """The rows of the tables whose first column has one of these heads, by their first cell."""
        found: dict[str, list[str]] = {}
        head = ""
        for line in self.text.splitlines():
            cells = [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]
            head = head or cells[0] if cells else ""
            if cells and head in heads and cells[0] != head and set(cells[0]) != {"-"}:
                found[cells[0]] = cells[1:]
        return found

    @property
    def parameters(self) -> dict[str, list[str]]:
        """Meaning and default of each parameter."""
        rows = self.rows("option", "argument", "argument or option")
        return {name(one): cells for key, cells in rows.items() for one in re.findall("`(.+?)`", key)[:1]}

    @property
    def fields(self) -> set[str]:
        """The fields of its JSON, such as `steps[].name`."""
        return {field for key in self.rows("field") for field in re.findall("`(.+?)`", key)}

    @property
    def sometimes(self) -> set[str]:
        """The fields that are there only in some cases, as their row says."""
        rows = self.rows("field").items()
        return {field for key, cells in rows if "; only " in cells[0] for field in re.findall("`(.+?)`", key)}

    @property
    def like(self) -> str:
        """The command whose JSON it prints too."""
        told = re.search(r"^As of \[`(\w+)`\]", self.text, re.MULTILINE)
        return f"stackmerge {told[1]}" if told else ""

    @property
    def examples(self) -> str:
        """Everything in it that can be typed."""
        return "\n".join(
            [
                *re.findall(r"^(?:\$|    ).*", self.text, re.MULTILINE),
                *re.findall("`(stackmerge[^`]+)`", self.text),
            ]
        )


def name(cell: str) -> str:
    """The parameter that a cell of a table is about: `--onto REV` is `--onto`."""
    return cell.split()[0] if cell.startswith("-") else cell


def sections(pages: Sequence[Path]) -> list[Section]:
    """Every section that is about a command: its heading is the command's name."""
    found = []
    for page in pages:
        parts = re.split(
            r"^#+ (stackmerge(?: [\w-]+)*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        found += [Section(parts[i], page, parts[i + 1]) for i in range(1, len(parts), 2)]
    return found


def paths_of(found: Any, at: str = "") -> set[str]:
    """The fields of a JSON value: `steps`, `steps[].name`."""
    if isinstance(found, dict):
        below = {f"{at}.{key}".lstrip("."): value for key, value in found.items()}
        return set(below).union(*(paths_of(value, key) for key, value in below.items()))
    if isinstance(found, list):
        return set().union(*(paths_of(value, f"{at}[]") for value in found))
    return set()


def printed(done: Done) -> Any:
    """The JSON that a command printed among what else it said."""
    return json.JSONDecoder().raw_decode(done.output[done.output.index("{") :])[0]
