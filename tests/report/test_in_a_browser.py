"""The page in Chromium: quiet, self-contained, for every width, for the keyboard, for screen readers and paper."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.report.browser import OPEN_ALL, shown

pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
from playwright.sync_api import Browser

PAGES = ("page_demo", "page_66", "page_1000")
EXPECTED = {"page_demo": 7, "page_66": 66, "page_1000": 1000}


@pytest.fixture(params=PAGES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(name: str, request: pytest.FixtureRequest) -> Path:
    return Path(request.getfixturevalue(name))


def test_it_is_whole_quiet_and_asks_for_nothing(browser: Browser, name: str, path: Path) -> None:
    with shown(browser, path) as found:
        assert found.js("document.querySelectorAll('ol.stack > li:not(.end)').length") == EXPECTED[name]
        assert found.requests == [path.as_uri()]
        assert found.errors == []
        assert found.js("document.scripts.length") == 0


@pytest.mark.parametrize("width", [360, 800, 1280])
@pytest.mark.parametrize("name", ["page_demo", "page_66"])
def test_nothing_is_wider_than_the_window(browser: Browser, path: Path, width: int) -> None:
    with shown(browser, path, width=width) as found:
        found.js(OPEN_ALL)
        assert found.js("document.documentElement.scrollWidth") <= width
        cut = (
            "[...document.querySelectorAll('pre, pre span, td, th, .name, .about, .ids')]"
            ".filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display != 'inline'"
            " && e.clientWidth > 0).slice(0, 3).map(e => e.outerHTML.slice(0, 200))"
        )
        assert found.js(cut) == []


@pytest.mark.skipif(
    find_spec("axe_playwright_python") is None, reason="axe-playwright-python checks the page"
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["page_demo", "page_66"])
def test_axe_finds_nothing_serious(browser: Browser, path: Path, scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with shown(browser, path, width=width, scheme=scheme) as found:
        found.js(OPEN_ALL)
        found.page.add_style_tag(content="* { content-visibility: visible !important }")
        results: dict[str, Any] = Axe().run(found.page).response
    bad = [
        (rule["id"], [node["html"][:150] for node in rule["nodes"][:3]])
        for rule in results["violations"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert bad == []


def test_its_outline(browser: Browser, path: Path) -> None:
    with shown(browser, path) as found:
        levels = found.js("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(b <= a + 1 for a, b in pairwise(levels))
        for landmark in ("header", "nav[aria-label]", "main", "footer"):
            assert found.js(f"document.querySelectorAll('body > {landmark}').length") == 1
        assert found.js("[...document.querySelectorAll('table')].every(t => t.caption)")
        assert found.js("[...document.querySelectorAll('th')].every(th => th.scope)")
        ids = found.js("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))
        links = found.js("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
        assert {link.removeprefix("#") for link in links} <= set(ids)


@pytest.mark.parametrize("name", ["page_demo", "page_66"])
def test_the_keyboard_reaches_everything(browser: Browser, path: Path) -> None:
    visible = "e.checkVisibility({contentVisibilityAuto: false}) && e.tabIndex >= 0"
    focusable = "[...document.querySelectorAll('a[href], summary, input, [tabindex=\"0\"]')]"
    with shown(browser, path) as found:
        wanted = found.js(f"{focusable}.filter(e => {visible} && !(e.type == 'radio' && !e.checked)).length")
        reached = 0
        for at in range(wanted + 1):
            found.page.keyboard.press("Tab")
            if not found.js("document.activeElement !== document.body"):
                break
            if at == 0:
                assert found.js("document.activeElement.className") == "skip"
                assert found.js("document.activeElement.getBoundingClientRect().left") >= 0
            assert found.js("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
            reached += 1
        assert reached == wanted


def test_a_step_unfolds_by_the_keyboard_and_by_a_link(browser: Browser, page_66: Path) -> None:
    with shown(browser, page_66) as found:
        found.page.focus("li:has(#step-3) summary")
        for state in (True, False):
            found.page.keyboard.press("Enter")
            assert found.js("document.querySelector('li:has(#step-3) details').open") is state
        found.page.goto(page_66.as_uri() + "#step-3")
        assert found.js("document.querySelector('li:has(#step-3) details').open")


def test_it_shows_only_what_is_asked_for(browser: Browser, page_66: Path) -> None:
    names = (
        "[...document.querySelectorAll('ol.stack > li .name')]"
        ".filter(e => e.checkVisibility()).map(e => e.textContent)"
    )
    with shown(browser, page_66) as found:
        assert len(found.js(names)) == 68
        found.page.check("#show-changed")
        assert "step-1" not in found.js(names)
        assert {"step-3", "step-4", "step-5", "step-9", "step-66"} <= set(found.js(names))
        found.page.check("#show-look")
        assert "step-4" not in found.js(names)
        assert {"step-2", "step-9", "step-66"} <= set(found.js(names))


def test_paper_shows_what_is_folded(browser: Browser, page_66: Path) -> None:
    folded = "[...document.querySelectorAll('.hunk, .hazard, .gate')].map(e => e.checkVisibility())"
    with shown(browser, page_66, scheme="dark") as found:
        assert False in found.js(folded)
        found.page.emulate_media(media="print")
        assert False not in found.js(folded)
        white = ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
        assert found.js("getComputedStyle(document.body).backgroundColor") in white
