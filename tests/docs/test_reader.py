"""The harness itself: what it takes from a page, and that it sees when a page is wrong."""

from __future__ import annotations

from pathlib import Path

from tests.docs.page import Command, File, parts
from tests.docs.reader import Done, Reader
from tests.sandbox import hermetic_environment

PAGE = """
```console
$ mkdir sub
$ cd sub
```

```yaml notes.yaml
one: 1
```

```yaml >> notes.yaml
two: 2
```

```console
$ cat notes.yaml
one: 1
...
$ for word in a b
> do echo $word; done
a
b
$ echo oops >&2; false    # exit 1
oops
```

```text
not typed
```

```sh
test -f notes.yaml
```
"""


def follow(place: Path, text: str) -> list[Done]:
    (place / "home").mkdir()
    page = place / "page.md"
    page.write_text(text)
    return Reader(place, hermetic_environment(place / "home"), {"/home/ada": str(place)}).follow(page)


def test_what_it_takes_from_a_page(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE)
    found = list(parts(tmp_path / "page.md"))
    assert [part for part in found if isinstance(part, File)] == [
        File("notes.yaml", "one: 1\n", append=False),
        File("notes.yaml", "two: 2\n", append=True),
    ]
    typed = [part for part in found if isinstance(part, Command)]
    assert [command.code for command in typed] == [0, 0, 0, 0, 1, 0]
    assert typed[3].text == "for word in a b\ndo echo $word; done"
    assert typed[-1].shown is None


def test_a_page_that_is_right(tmp_path: Path) -> None:
    assert [done.problem for done in follow(tmp_path, PAGE)] == [""] * 6


def test_an_output_or_an_exit_code_that_is_wrong(tmp_path: Path) -> None:
    wrong = PAGE.replace("a\nb\n$", "a\nc\n$").replace("# exit 1", "# exit 3")
    problems = [done.problem for done in follow(tmp_path, wrong)]
    assert [bool(problem) for problem in problems] == [False, False, False, True, True, False]
    assert "exited with 1" in problems[4]


def test_an_output_that_a_page_does_not_show(tmp_path: Path) -> None:
    [done] = follow(tmp_path, "```console\n$ echo said\n```\n")
    assert "said" in done.problem


def test_what_differs_from_run_to_run_is_no_difference(tmp_path: Path) -> None:
    [one, two] = follow(
        tmp_path,
        "```console\n$ echo it took 0.25 s\nit took 3.1 s\n$ pwd\n/home/ada\n```\n",
    )
    assert (one.problem, two.problem) == ("", "")
