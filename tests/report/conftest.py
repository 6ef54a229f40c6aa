"""The pages that the tests of the report look at, and the browser they look with; each made once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from stackmerge.report.model import ReportView, view
from stackmerge.report.render import render
from stackmerge.repository import Repository
from stackmerge.stack import open_stack
from tests.report import stack
from tests.report.browser import chromium
from tests.sandbox import Sandbox

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A rebuilt stack of 66 steps with every outcome."""
    fork = Sandbox(tmp_path_factory.mktemp("generated"))
    stack.rebuilt(fork, 66)
    return fork


@pytest.fixture(scope="session")
def generated_view(generated: Sandbox) -> ReportView:
    with Repository(generated.path) as repository:
        run = open_stack(repository, generated.path / "stackmerge.yaml").last_run()
        assert run is not None
        return view(repository, [run])


@pytest.fixture(scope="session")
def page_66(generated: Sandbox) -> Path:
    """Its page, as the command writes it."""
    return written(generated)


@pytest.fixture(scope="session")
def page_1000(generated_view: ReportView, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 1,000 steps: those of the generated stack again and again."""
    again = (step for _ in range(1000) for step in generated_view.steps)
    steps = tuple(
        replace(step, number=n, measured=step.measured and n == step.number)
        for n, step in enumerate(islice(again, 1000), 1)
    )
    path = tmp_path_factory.mktemp("page") / "1000.html"
    path.write_text(render(replace(generated_view, steps=steps)), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def page_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the demo's stack after a rebuild on a newer upstream."""
    root = tmp_path_factory.mktemp("demo")
    made = Sandbox(root, "elsewhere").stackmerge("demo", str(root / "demo"))
    assert made.code == 0, made.err
    fork = Sandbox(root, "demo/fork")
    rebuilt = fork.stackmerge("rebuild", "--onto", "cc1f5c2", "--gates", "off")
    assert rebuilt.code == 0, rebuilt.err
    return written(fork)


def written(fork: Sandbox) -> Path:
    path = fork.path.parent / "report.html"
    ran = fork.stackmerge("report", "--out", str(path))
    assert ran.code == 0, ran.err
    return path
