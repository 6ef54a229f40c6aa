"""A page in a real browser, with everything that it asked for and complained about."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPEN_ALL = "document.querySelectorAll('details').forEach(d => { d.open = true })"


@dataclass
class Shown:
    """An open page. ``requests`` are addresses, ``errors`` what the console and the scripts of the page said."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def js(self, script: str) -> Any:
        return self.page.evaluate(script)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser. Skips the test where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    if CHROMIUM is None:
        pytest.skip("no chromium here: install the package `chromium`")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def shown(browser: Browser, path: Path, *, width: int = 1280, scheme: Any = "light") -> Iterator[Shown]:
    """A page from a file, in a context of its own."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    found = Shown(context.new_page())
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.on("pageerror", lambda error: found.errors.append(str(error)))
    found.page.on("console", lambda said: found.errors.append(said.text))
    found.page.goto(path.as_uri())
    yield found
    context.close()
