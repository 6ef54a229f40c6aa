"""What a person wrote stays: around the sections always, inside one from the moment that they edit it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackmerge.describe import sections
from stackmerge.describe.sections import Body
from stackmerge.errors import StackmergeError

NAMES = ("merged", "stack")


def rendered(**texts: str) -> Body:
    parts = tuple((sections.SECTION, name) for name in texts)
    return Body(parts, texts)


FIRST = sections.fresh(rendered(merged="one", stack="two"), "Title").text


def fence(name: str, inner: str) -> str:
    return f"<!-- stackmerge:begin {name} -->\n{inner}\n<!-- stackmerge:end {name} -->"


def test_the_first_body() -> None:
    assert FIRST.startswith(
        fence("merged", "one") + "\n\n" + fence("stack", "two") + "\n\n<!-- stackmerge:state "
    )
    again = sections.merge(sections.parse(FIRST), rendered(merged="one", stack="two"), "Title")
    assert again == sections.Merged(FIRST)


def test_new_text_takes_the_place_of_the_old() -> None:
    made = sections.merge(sections.parse(FIRST), rendered(merged="ONE", stack="two"), "Title")
    assert fence("merged", "ONE") in made.text
    assert fence("stack", "two") in made.text
    assert made.kept == ()


@given(
    st.text(alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\x00")),
    st.text("ab \n"),
)
def test_what_is_around_the_sections_is_kept_to_the_letter(above: str, below: str) -> None:
    body = f"{above}\n{FIRST}\n{below}"
    made = sections.merge(sections.parse(body), rendered(merged="ONE", stack="TWO"), "Title")
    assert made.text.startswith(f"{above}\n{fence('merged', 'ONE')}")
    assert made.text.endswith(f"-->\n{below}")
    assert (
        sections.merge(sections.parse(made.text), rendered(merged="ONE", stack="TWO"), "Title").text
        == made.text
    )


def test_an_edited_section_is_kept_and_named() -> None:
    edited = FIRST.replace("\none\n", "\none, says Grace\n")
    made = sections.merge(sections.parse(edited), rendered(merged="ONE", stack="TWO"), "Title")
    assert made.kept == ("merged",)
    assert fence("merged", "one, says Grace") in made.text
    assert fence("stack", "TWO") in made.text
    later = sections.merge(sections.parse(made.text), rendered(merged="ONE!", stack="TWO"), "Title")
    assert later.kept == ("merged",)


def test_an_edit_that_is_taken_back_is_ours_again() -> None:
    made = sections.merge(sections.parse(FIRST), rendered(merged="ONE", stack="two"), "Title")
    assert made.kept == ()
    emptied = sections.merge(
        sections.parse(FIRST.replace("\none\n", "\n")), rendered(merged="ONE", stack="two")
    )
    assert emptied.kept == ("merged",)


def test_without_the_state_nothing_is_known_to_be_ours() -> None:
    bare = FIRST.partition("<!-- stackmerge:state")[0]
    made = sections.merge(sections.parse(bare), rendered(merged="ONE", stack="two"))
    assert made.kept == ("merged",)
    damaged = FIRST.replace("stackmerge:state ", "stackmerge:state AAAA")
    assert sections.parse(damaged).state == {}


def test_line_ends_of_the_web_are_normalised() -> None:
    web = ("Mine.\n" + FIRST + "\nMine too.").replace("\n", "\r\n")
    made = sections.merge(sections.parse(web), rendered(merged="ONE", stack="two"), "Title")
    assert "\r" not in made.text
    assert made.kept == ()


def test_a_missing_fence_is_appended_before_the_state() -> None:
    body = "Mine.\n\n" + FIRST.replace(fence("stack", "two"), "Yours.")
    made = sections.merge(sections.parse(body), rendered(merged="one", stack="TWO"), "Title")
    assert made.text.startswith("Mine.\n\n" + fence("merged", "one") + "\n\nYours.\n\n")
    assert made.text.index(fence("stack", "TWO")) > made.text.index("Yours.")
    assert made.text.index(fence("stack", "TWO")) < made.text.index("stackmerge:state")
    sections.parse(made.text)


def test_a_body_without_any_of_it_gets_it_all_below() -> None:
    made = sections.merge(sections.parse("My words."), rendered(merged="one", stack="two"), "Title")
    assert made.text.startswith("My words.\n\n" + fence("merged", "one"))


@pytest.mark.parametrize(
    "body",
    [
        FIRST + fence("merged", "again"),
        FIRST.replace("<!-- stackmerge:end merged -->", ""),
        FIRST.replace("<!-- stackmerge:begin stack -->", ""),
        FIRST.replace(
            "<!-- stackmerge:end merged -->\n\n<!-- stackmerge:begin stack -->",
            "<!-- stackmerge:end stack -->",
        ),
        fence("merged", fence("stack", "inside")),
    ],
)
def test_a_double_or_broken_fence_is_an_error(body: str) -> None:
    with pytest.raises(StackmergeError, match="pull request 7: the comment `stackmerge:"):
        sections.parse(body, "pull request 7")


def test_a_fence_in_the_middle_of_a_line_is_text() -> None:
    assert sections.parse("see <!-- stackmerge:begin merged --> there").sections == {}
