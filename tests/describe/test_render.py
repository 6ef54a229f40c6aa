"""The whole description as GitHub renders it, with friendly and hostile data, and within GitHub's limit."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from stackmerge.describe import limit, sections
from stackmerge.describe.render import Renderer
from stackmerge.errors import StackmergeError, UsageError
from tests.describe import make
from tests.describe.page import Page
from tests.describe.test_escape import HOSTILE

HEADINGS = [
    "Changes", "Conflicts", "Hazards", "Testing", "Benchmarks", "Environment", "Stack", "How the tests were run",
    "Rebase notes",
]  # fmt: skip


def whole(facts: object) -> str:
    return sections.fresh(Renderer().body(facts), "Title").text  # type: ignore[arg-type]


def test_every_section_is_there_and_renders() -> None:
    page = Page(whole(make.facts()))
    assert page.headings == HEADINGS
    assert page.balanced
    assert "|" not in page.plain
    assert "**" not in page.plain
    assert page.table("file")[0] == ["plain", "1", "2"]
    assert page.table("metric") == [["decode", "100.0 tokens/s", "110.0 tokens/s", "+10.0 %", "3", "1.0 %"]]
    gate = ["unit", "failed (plain), accepted: plain", "1 passed, 1 failed, 3 skipped"]
    assert page.table("gate")[0][:3] == gate
    assert [item.strip() for item in page.items if item.startswith("#")] == ["#11", "#12 ← this pull request"]
    assert page.links == ["https://redirect.github.com/up/stream/pull/338"]
    assert len(page.comments) == 2 * 12 + 1


def test_a_section_without_data_is_left_out() -> None:
    bare = replace(
        make.facts(), notes="", conflicts=(), hazards=(), gates=(), logs=(), benchmarks=None, environment=(),
        how_to_test="", rebases=(),
    )  # fmt: skip
    page = Page(whole(bare))
    assert page.headings == ["Stack"]
    assert page.text.strip().startswith(
        "Merges upstream up/stream#\u200b338 (plain, head dddddddddddd). Stacked on #11."
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_anywhere_changes_nothing_but_text(text: str) -> None:
    """The elements of the page are those of a harmless one; notes are Markdown and are looked at on their own."""

    def structure(facts: object) -> tuple[list[str], list[str], int]:
        page = Page(whole(facts))
        assert page.balanced
        assert not re.search(r"(?<![\w`])@\w", page.plain)
        return page.tags, page.links, len(page.comments)

    hostile = replace(make.facts(text), notes="plain", how_to_test="plain")
    assert structure(hostile) == structure(make.facts())
    body = sections.parse(whole(hostile))
    assert set(body.sections) == set(sections.parse(whole(make.facts())).sections)


def test_a_body_of_200_000_characters_is_cut_in_the_stated_order() -> None:
    """Old rebase notes first, oldest first; then environment, then benchmarks; conflicts and hazards stay."""
    put = sections.fresh
    render = Renderer().body
    notes = tuple(make.rebase(n, "x" * 6_000) for n in range(28, 0, -1))
    facts = replace(make.facts(), rebases=notes, environment=(("server", "y" * 30_000),))
    assert len(whole(facts)) > 200_000

    cut = limit.fitted(facts, limit.GITHUB, render, put).text
    assert len(cut) <= 65_536
    page = Page(cut)
    assert page.headings == HEADINGS
    kept = re.findall(r"Rebased 2023-11-(\d\d)", page.text)
    assert kept == [f"{n:02d}" for n in range(28, 28 - len(kept), -1)]
    assert f"{28 - len(kept)} older notes left out" in page.text
    assert len(cut) + 6_000 > 65_536

    long = replace(facts, environment=(("server", "y" * 60_000),))
    no_environment = Page(limit.fitted(long, limit.GITHUB, render, put).text)
    assert no_environment.headings == [name for name in HEADINGS if name != "Environment"]
    assert re.findall(r"Rebased 2023-11-(\d\d)", no_environment.text) == ["28"]
    assert "27 older notes left out" in no_environment.text

    many = replace(long, conflicts=make.facts("z" * 2_000).conflicts * 5)
    full = replace(many, benchmarks=replace(many.benchmarks, how="w" * 60_000))  # type: ignore[type-var]
    last = Page(limit.fitted(full, limit.GITHUB, render, put).text)
    assert last.headings == [name for name in HEADINGS if name not in ("Environment", "Benchmarks")]
    assert len(last.table("file")) >= 1
    assert "z" * 2_000 in last.text


def test_what_cannot_be_cut_is_an_error() -> None:
    facts = replace(make.facts(), conflicts=make.facts("z" * 4_000).conflicts * 20)
    with pytest.raises(StackmergeError, match=r"the description of red has \d+,\d+ characters where 65,536"):
        limit.fitted(facts, limit.GITHUB, Renderer().body, sections.fresh)


def test_a_users_template_overrides_a_block(tmp_path: Path) -> None:
    (tmp_path / "pull_request.md.j2").write_text(
        '{% extends "stackmerge/pull_request.md.j2" %}\n'
        "{% block changes %}## What is new\n\n{{ facts.notes | prose }}{% endblock %}\n"
    )
    body = Renderer(tmp_path).body(make.facts())
    assert body.sections["changes"] == "## What is new\n\nplain"
    assert body.sections["stack"] == Renderer().body(make.facts()).sections["stack"]


def test_a_users_template_may_be_all_there_is(tmp_path: Path) -> None:
    (tmp_path / "pull_request.md.j2").write_text(
        'Hello.\n{{ begin("all") }}{{ "\\n" }}{{ facts.step }}\n{{ end("all") }}'
    )
    body = Renderer(tmp_path).body(make.facts())
    assert sections.fresh(body).text.startswith(
        "Hello.\n\n<!-- stackmerge:begin all -->\nred\n<!-- stackmerge:end all -->\n\n<!-- stackmerge:state "
    )


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("one\n{{ facts.nothing }}", r"pull_request\.md\.j2:2: .*no attribute 'nothing'"),
        ("{{ nothing }}", "'nothing' is undefined"),
        ("\n\n{% if %}", r"pull_request\.md\.j2:3: "),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ facts.merged.__init__.__globals__ }}", "unsafe"),
        ("{% include '../../../etc/passwd' %}", "etc/passwd"),
    ],
)
def test_a_bad_template_is_an_error_with_its_place(tmp_path: Path, template: str, said: str) -> None:
    (tmp_path / "pull_request.md.j2").write_text(template)
    with pytest.raises(UsageError, match=said):
        Renderer(tmp_path).body(make.facts())
