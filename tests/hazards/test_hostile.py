"""Files that somebody made to break a parser: a clear `not checked`, and no crash."""

from __future__ import annotations

import pytest

from stackmerge.hazard.finding import Sides
from stackmerge.hazard.evaluate import check
from stackmerge.objects import EMPTY_TREE
from stackmerge.rawtree import Entry
from tests.hazards.fence import DISK, FIXTURE
from tests.hazards.trees import Scratch

RULE = "ple-graph-fence"
BAD = FIXTURE["bad"].encode()
HOSTILE = {
    "deep brackets": (BAD + b"x = " + b"(" * 5_000 + b"1" + b")" * 5_000 + b"\n", ""),
    "deep blocks": (
        BAD + b"".join(b" " * 4 * n + b"if True:\n" for n in range(400)) + b" " * 1600 + b"pass\n",
        "",
    ),
    "a line of 50 MB": (BAD + b"x = '" + b"a" * 50_000_000 + b"'\n", "larger than"),
    "a line of 1 MB": (BAD + b"x = '" + b"a" * 1_000_000 + b"'\n", "line of more than"),
    "invalid UTF-8": (BAD + b"x = '\xff\xfe'\n", "UTF-8"),
    "binary": (b"\0" + BAD, "binary"),
    "no Python at all": (FIXTURE["good"].encode() + b"def (:\n", "parse"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_result_is_not_checked_in_so_many_words(scratch: Scratch, name: str) -> None:
    data, word = HOSTILE[name]
    base, ours, theirs = ({DISK: FIXTURE[side]} for side in ("base", "ours", "theirs"))
    found = scratch.ask(base, ours, theirs, {DISK: data})
    mine = [f for f in found if f.rule == RULE]
    if name.startswith("deep"):  # the class is cut out of the file, and only that is parsed
        assert [f.severity for f in mine] == ["block"]
    else:
        assert [(f.disposition, word in f.reason) for f in mine] == [("not checked", True)]
    assert not [f for f in found if f.severity == "block" and f.rule != RULE]


def test_a_class_that_is_nested_too_deep_is_not_checked(scratch: Scratch) -> None:
    inside = "    x = " + "(" * 500 + "1" + ")" * 500 + "\n    reads_row_ids = False\n"
    merged = FIXTURE["bad"].replace("    reads_row_ids = False\n", inside)
    sides = [{DISK: FIXTURE[side]} for side in ("base", "ours", "theirs")]
    (found,) = scratch.ask(*sides, {DISK: merged}, RULE)
    assert (found.disposition, "nested more than" in found.reason) == ("not checked", True)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_side_is_not_checked_either(scratch: Scratch, name: str) -> None:
    data, _ = HOSTILE[name]
    base, ours = {DISK: FIXTURE["base"]}, {DISK: FIXTURE["ours"]}
    scratch.ask(base, ours, {DISK: data}, {DISK: FIXTURE["bad"]})
    scratch.ask(base, ours, {DISK: data}, None)


@pytest.mark.parametrize(
    "name", ["-rf", "--config=x.py", "a\nb.py", "$(touch x).py", "..py", "ü.py", "a b.py"]
)
def test_a_file_named_like_an_option_is_a_file(scratch: Scratch, name: str) -> None:
    name = name if name.endswith(".py") else f"{name}.py"
    base, ours = "import os\nos.sep\n" + "X = 1\n" * 9, "X = 1\n" * 9
    theirs, merged = base + "os.sep\n", ours + "os.sep\n"
    said = scratch.said({name: base}, {name: ours}, {name: theirs}, {name: merged}, "lint-delta")
    assert said == {("lint-delta", "block")}


def test_a_path_that_is_no_text(scratch: Scratch) -> None:
    name = b"caf\xe9.py".decode("utf-8", "surrogateescape")
    said = scratch.said({name: "a = 1\n"}, {name: "a = 2\n"}, {name: "b = 1\n"}, {name: "a = 2\nb = 1\n"})
    assert ("lint-delta", "block") not in said


def test_links_submodules_and_modes_are_looked_past(scratch: Scratch) -> None:
    blob = scratch.objects.write_blob(b"target")
    trees = [
        scratch.objects.edit(EMPTY_TREE, {"m.py": entry})
        for entry in (
            Entry(0o120000, blob), Entry(0o160000, "1" * 40), Entry(0o100755, blob), Entry(0o120000, blob),
        )
    ]  # fmt: skip
    found = check(scratch.objects, Sides(*trees), scratch.rules, step="s")
    assert not [f for f in found if f.severity == "block"]


def test_a_deep_yaml_or_json_file_is_not_checked(scratch: Scratch) -> None:
    for name, text in (("m.json", "[" * 9000 + "]" * 9000), ("m.yaml", "[" * 9000 + "]" * 9000)):
        said = scratch.said({name: "[]"}, {name: "[1]"}, {name: "[2]"}, {name: text}, "duplicate-definition")
        assert said == {("duplicate-definition", "not checked")}
