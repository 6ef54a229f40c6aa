"""The page of a real rebuild: what it says, and that what strangers wrote is only text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from tests.sandbox import Sandbox

HOSTILE = '<script>alert(1)</script> & "quoted" \u202egnp.exe'


class Elements(HTMLParser):
    """Collects the elements of a page and the text outside of styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def page(fork: Sandbox, tmp_path: Path) -> tuple[Elements, str]:
    ran = fork.stackmerge("report", "--out", str(tmp_path / "report.html"))
    assert ran.code == 0, ran.err
    raw = (tmp_path / "report.html").read_text()
    elements = Elements()
    elements.feed(raw)
    return elements, raw


def conflicted_stack(fork: Sandbox) -> None:
    fork.commit({"a": "1\n2\n3\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": "1\nred\n3\n"}, "red")
    fork.branch("blue", "v1", {"a": "1\nblue\n3\n"}, "blue")
    fork.manifest(
        "stack: deploy\nbase: v1\nsteps:\n- name: red\n  merge: red\n- name: blue\n  merge: blue\n"
        f"  title: '{HOSTILE}'\ngates:\n- name: echo\n  run: [echo, '{HOSTILE}']\n"
    )
    stopped = fork.stackmerge("rebuild", "--json")
    assert stopped.code == 3
    tree = Path(stopped.json["worktree"])
    (tree / "a").write_text("1\npurple\n3\n")
    fork.git("add", "a", cwd=tree)
    assert fork.stackmerge("continue").code == 0


def test_the_page_shows_the_conflict_its_answer_and_where_that_comes_from(
    fork: Sandbox, tmp_path: Path
) -> None:
    conflicted_stack(fork)
    elements, raw = page(fork, tmp_path)
    columns = re.findall(r'<pre class="(ours|theirs|answer)">(.*?)</pre>', raw, re.DOTALL)
    lines = [(kind, re.findall(r'<span class="(\w+)">(.*?)</span>', text)) for kind, text in columns]
    around = ("around", "1"), ("around", "3")
    assert lines == [
        ("ours", [around[0], ("lost", "red"), around[1]]),
        ("theirs", [around[0], ("lost", "blue"), around[1]]),
        ("answer", [around[0], ("new", "purple"), around[1]]),
    ]
    assert "recorded by Ada <ada@example.com>" in elements.text
    assert "passed on CPU" in elements.text
    assert "The rebuild is accepted." in elements.text


def test_what_strangers_wrote_is_text(fork: Sandbox, tmp_path: Path) -> None:
    conflicted_stack(fork)
    elements, raw = page(fork, tmp_path)
    assert "script" not in elements.tags
    assert '<script>alert(1)</script> & "quoted" \\u{202e}gnp.exe' in elements.text
    assert "\u202e" not in raw


def test_it_needs_nothing_from_outside(fork: Sandbox, tmp_path: Path) -> None:
    conflicted_stack(fork)
    elements, raw = page(fork, tmp_path)
    assert not {"link", "img", "iframe", "script", "object"} & set(elements.tags)
    assert "http" not in raw.replace("http-equiv", "")
    assert "default-src 'none'" in raw


def test_a_stack_that_was_never_rebuilt_has_no_report(fork: Sandbox, tmp_path: Path) -> None:
    fork.commit({"a": "1\n"}, "one")
    fork.manifest("stack: deploy\nbase: main\nsteps:\n- name: red\n  merge: main\n")
    ran = fork.stackmerge("report", "--out", str(tmp_path / "report.html"))
    assert ran.code == 1
    assert "has not been rebuilt yet" in ran.err
