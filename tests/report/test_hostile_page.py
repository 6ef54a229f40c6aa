"""Hostile texts wherever the page shows one: they are text in the DOM of a real browser, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackmerge.gate.outcome import FAILED, PASSED, GateResult
from stackmerge.hazard.finding import ALLOWED, Finding
from stackmerge.record import ConflictRecord, Run, StepRecord
from stackmerge.report.model import view
from stackmerge.report.render import render
from stackmerge.repository import Repository
from stackmerge.resolution import Provenance
from stackmerge.serving.record import Bench, ServedRun
from stackmerge.stack import open_stack
from tests.report.browser import OPEN_ALL, shown
from tests.sandbox import Sandbox

pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
from playwright.sync_api import Browser

TEXTS = (
    "<script>document.title = 'run'</script>",
    "<img src=x onerror=\"document.title = 'run'\">",
    "</style></title></script><svg onload=alert(1)>",
    "--><h1 id=own>own</h1><!--",
    "]]>{{ 7 * 7 }}{% include 'x' %}&lt;b&gt;&#60;",
    "\" onfocus=alert(1) autofocus x='",
    "javascript:alert(1)",
    "abc\u202egnp.exe\u2066\u0000\u001b[31m\u0085\u200b",
    "https://example.com/ www.example.com",
)
ELEMENTS = (
    "html head meta title style body a header h1 h2 h3 h4 p dl dt dd code span nav ul li main section div ol details "
    "summary fieldset legend label input table caption thead tbody tr th td pre i b strong figure figcaption svg g "
    "line circle footer"
)
ATTRIBUTES = (
    "lang charset name content http-equiv class href id title aria-label aria-labelledby aria-hidden tabindex open "
    "scope type checked style role width height x1 x2 y1 y2 cx cy r"
)


@pytest.fixture
def hostile_page(fork: Sandbox, tmp_path: Path) -> Path:
    """A real conflict at a hostile path, in a run whose every other text is hostile too."""
    where = "dir/<img src=x onerror=alert(1)>\u202e\n'\".py"
    fork.commit({where: "1\n2\n3\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {where: "1\n" + "\n".join(TEXTS[:5]) + "\n3\n"}, "red")
    fork.branch("blue", "v1", {where: "1\n" + "\n".join(TEXTS[5:]) + "\n3\n"}, "blue")
    fork.manifest("stack: deploy\nbase: v1\nsteps:\n- name: red\n  merge: red\n- name: blue\n  merge: blue\n")
    assert fork.stackmerge("rebuild", "--keep-going").code == 3
    with Repository(fork.path) as repository:
        run = open_stack(repository, fork.path / "stackmerge.yaml").last_run()
        assert run is not None
        log = tmp_path / "log"
        log.write_text("\n".join(TEXTS))
        made = _hostile(run, " ".join(TEXTS), log)
        page = render(view(repository, [made]))
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    return path


def _hostile(run: Run, text: str, log: Path) -> Run:
    steps = tuple(_hostile_step(record, text)._replace(name=f"{record.name}{text}") for record in run.steps)
    planned = tuple(
        step._replace(name=f"{step.name}{text}", title=text, pr=text, earlier=text) for step in run.plan.steps
    )
    first, last = steps[0].name, steps[-1].name
    gates = (
        GateResult(
            text, first, "", FAILED, text, text, {"tests": 1}, 1.0, "k", str(log), (text,), wants_gpu=True
        ),
        GateResult(
            f"{text}2", last, "", PASSED, text, environment={text: text}, skips={text: 1}, wants_gpu=True
        ),
    )
    runs = (ServedRun(10, 1.0, (0.1,), 10.0), ServedRun(11, 1.0, (0.1,), 11.0))
    bench = Bench(first, "after", steps[0].commit, text, text, 10, 1, 1, runs, text, {"gpu": text})
    proof = {
        "holds": False,
        "counts": {"differs": 1},
        "paths": [{"path": text, "verdict": "differs", "step": text}],
    }
    plan = run.plan._replace(stack=text, steps=planned, old_tip=text, old_base=text)
    return run._replace(plan=plan, steps=steps, gates=gates, benches=(bench,), proof=proof, status=text)


def _hostile_step(record: StepRecord, text: str) -> StepRecord:
    finding = Finding(text, "warn", text, text, ((1, text), (2, text)), text, reason=text, gates=(text,))
    origin = Provenance(text, text, text, text, (), text, text, 1, text, text)
    return record._replace(
        conflicts=tuple(ConflictRecord(c.path, text, text, text) for c in record.conflicts),
        hazards=(finding, finding._replace(disposition=ALLOWED)),
        gates=(text,),
        landed=text,
        resolutions=tuple(used._replace(provenance=origin) for used in record.resolutions),
        outcome=text if record.outcome == "clean" else record.outcome,
    )


def test_hostile_texts_are_text(browser: Browser, hostile_page: Path) -> None:
    with shown(browser, hostile_page) as found:
        found.js(OPEN_ALL)
        elements = found.js("[...document.querySelectorAll('*')].map(e => e.localName)")
        assert set(elements) <= set(ELEMENTS.split())
        assert elements.count("h1") == 1
        attributes = found.js(
            "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes].map(a => a.name))"
        )
        assert set(attributes) <= set(ATTRIBUTES.split())
        links = found.js("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
        assert all(link.startswith("#") for link in links)
        assert found.requests == [hostile_page.as_uri()]
        assert found.errors == []
        assert found.js("document.getElementById('own')") is None
        text = found.js("document.body.innerText")
        for wanted in TEXTS[:7]:
            assert " ".join(wanted.split()) in " ".join(text.split())
        assert "abc\\u{202e}gnp.exe\\u{2066}\\u{0}\\u{1b}[31m\\u{85}\\u{200b}" in text


@pytest.mark.parametrize("width", [360, 1280])
def test_hostile_texts_stay_in_the_window(browser: Browser, hostile_page: Path, width: int) -> None:
    with shown(browser, hostile_page, width=width) as found:
        found.js(OPEN_ALL)
        assert found.js("document.documentElement.scrollWidth") <= width
