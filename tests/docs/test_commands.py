"""docs/commands/ says of every command what the command line has, and nothing that it has not."""

from __future__ import annotations

import re

import pytest

from stackmerge.errors import Exit
from tests.docs.page import commands
from tests.docs.places import COMMANDS, README
from tests.docs.reference import SHARED, Section, built, sections

BUILT = built()
SECTIONS = {section.command: section for section in sections(COMMANDS)}
INDEX = next(page for page in COMMANDS if page.name == "README.md")
every_command = pytest.mark.parametrize("command", sorted(BUILT))


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    groups = {command.rpartition(" ")[0] for command in BUILT}
    assert set(BUILT) - set(SECTIONS) == set(), "no section: a heading that is the command's name"
    assert set(SECTIONS) - set(BUILT) - groups == set(), "no such command"


@every_command
def test_its_options_and_arguments_are_those_of_the_page(command: str) -> None:
    shown = SECTIONS[command].parameters
    if command != "stackmerge":
        assert set(shown) & SHARED == set(), "the index says it for all"
    known = {one.name: one for one in BUILT[command] if one.name not in SHARED}
    assert set(shown) == set(known)
    for parameter in known.values():
        meaning, default = shown[parameter.name]
        assert meaning
        if parameter.default == "required":
            assert default == "required"
        elif parameter.default:
            assert default == f"`{parameter.default}`"
        else:
            assert default != "required"


@every_command
def test_every_option_is_in_an_example(command: str) -> None:
    examples = SECTIONS[command].examples
    options = {one.name for one in BUILT[command] if one.name.startswith("-")} - SHARED
    assert {option for option in options if not re.search(rf"{option}\b", examples)} == set()
    assert re.search(rf"{command}\b", examples)


def test_the_index_says_which_commands_lack_a_shared_option() -> None:
    """The sentence below the table of shared options, which a person wrote: this is what it says."""
    lacking = {
        option: {command for command, known in BUILT.items() if option not in {one.name for one in known}}
        for option in ("--repo", "--json", "--manifest")
    }
    assert lacking["--repo"] == lacking["--json"] == {"stackmerge", "stackmerge demo"}
    own = {c for c in BUILT if c.startswith(("stackmerge rerere", "stackmerge hazards"))} - {
        "stackmerge hazards check"
    }
    assert lacking["--manifest"] == {"stackmerge", "stackmerge demo", "stackmerge train"} | own


def test_the_index_and_the_readme_link_every_page() -> None:
    pages = {page.name for page in COMMANDS if page != INDEX}
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", INDEX.read_text())) == pages
    assert "docs/commands/README.md" in README.read_text()


def test_the_index_explains_every_exit_code() -> None:
    shown = {key for section in sections([INDEX]) for key in section.rows("exit")}
    assert shown == {str(int(code)) for code in Exit} | {"130"}


@every_command
def test_an_exit_code_that_an_example_has_is_explained(command: str) -> None:
    section = SECTIONS[command]
    codes = {c.code for c in commands(section.page) if c.text.startswith(command) and c.code > Exit.USAGE}
    assert {str(code) for code in codes} <= set(section.rows("exit"))
    assert set(section.rows("exit")) <= {str(int(code)) for code in Exit} | {"130"}


def test_the_test_sees_an_option_that_came_and_one_that_went() -> None:
    text = "| option | meaning | default |\n|---|---|---|\n| `--one N` | says so | `1` |\n| `--gone` | it did | off |\n"
    section = Section("stackmerge it", INDEX, text)
    assert section.parameters == {"--one": ["says so", "`1`"], "--gone": ["it did", "off"]}
