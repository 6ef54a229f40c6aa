"""Every command of every page, as written and in order, with what the page says that it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.places import COMMANDS, DOCS, PAGES, reader
from tests.docs.reader import Done
from tests.docs.reference import Section, built, paths_of, printed, sections
from tests.stories.conftest import needs_engine

pytestmark = needs_engine
ROOT = DOCS.parent
BUILT = built()
SECTIONS = {section.command: section for section in sections(COMMANDS)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_works_as_written(page: Path, tmp_path: Path, demo_once: Path) -> None:
    with reader(page, tmp_path, demo_once) as somebody:
        done = somebody.follow(page)
    problems = [one.problem for one in done if one.problem]
    assert not problems, "\n".join(problems)
    for section in sections([page]) if page in COMMANDS else ():
        if section.command in BUILT:
            check_fields(section, done)


def check_fields(section: Section, done: list[Done]) -> None:
    """The fields of the page are those of what the command printed with --json."""
    ran = [
        one for one in done if one.command.text.startswith(section.command) and " --json" in one.command.text
    ]
    if "--json" in {one.name for one in BUILT[section.command]}:
        assert ran, f"{section.command}: no example with --json"
    found = set().union(*(paths_of(printed(one)) for one in ran))
    like = section.fields.union(SECTIONS[section.like].fields if section.like else ()) if ran else set()
    leaves = {
        field for field in like if not any(other.startswith((f"{field}.", f"{field}[]")) for other in like)
    }
    unknown = {
        f for f in found if f not in like and not any(f.startswith((f"{le}.", f"{le}[]")) for le in leaves)
    }
    assert unknown == set(), f"{section.command}: fields that the page does not tell of"
    if section.fields:
        assert section.fields - found - section.sometimes == set(), (
            f"{section.command}: fields that are not there"
        )
