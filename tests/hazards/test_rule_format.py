"""The rule format: what is wrong in a rule is said with file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackmerge.errors import UsageError
from stackmerge.hazard.library import load
from stackmerge.hazard.patterns import literals
from stackmerge.hazard.reading import read
from stackmerge.hazard.selftest import prove

GOOD = """\
id: my-rule
severity: block
title: A thing
language: python
match:
  paths: ["**/*.py"]
  theirs: {adds: close}
facts:
  close: {rule: {pattern: $X.close()}}
hazard:
  all: close
"""


def written(folder: Path, text: str, name: str = "my-rule.yaml") -> Path:
    folder = folder / "hazards"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("severity: block", "severity: fatal", "hazards/my-rule.yaml:2: severity: must be one of block, warn, note"),
        ("id: my-rule", "id: My Rule", "hazards/my-rule.yaml:1: id: 'My Rule' is not an id"),
        ("title: A thing\n", "", "hazards/my-rule.yaml:1: the key `title` is missing"),
        ("title: A thing", "titel: A thing", "hazards/my-rule.yaml:3: titel: is not a known key"),
        ("language: python", "language: klingon", "my-rule.yaml:4: language: 'klingon' is not a language"),
        ("language: python\n", "", "the key `language` is missing"),
        ("adds: close", "adds: open", "my-rule.yaml:7: match.theirs.adds: there is no fact 'open'"),
        ("all: close", "all: open", "my-rule.yaml:11: hazard.all: there is no fact 'open'"),
        ("pattern: $X", "patern: $X", "my-rule.yaml:9: facts.close.rule.patern: is not a key of an ast-grep rule"),
        ("{rule: {pattern: $X.close()}}", "{after: {kind: x}, rule: {pattern: x}}", "facts.close.after: needs `in`"),
        ("theirs: {adds: close}", "one: {adds: close}", "match.one: `one` and `other` go together"),
        ("hazard:\n  all: close\n", "", "needs either `check` or `hazard`"),
        ("hazard:", "check: lint_delta\nhazard:", "needs either `check` or `hazard`"),
        ("hazard:", "assert: {must_not_exist: {regex: '('}}\nhazard:", "is not a regular expression"),
        ("hazard:", "assert: {must_not_exist: {}}\nhazard:", "needs either `regex` or `pattern`"),
        ("hazard:", "prescribe: {resolve: {symbol: f, take: one}}\nhazard:", "prescribe.resolve.take: must be one of"),
        ("theirs: {adds: close}", "theirs: &a {adds: close}\n  ours: *a", "aliases"),
        ("all: close", "all: [close", "is not YAML"),
    ],
)  # fmt: skip
def test_an_error_names_file_line_and_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(UsageError) as caught:
        read(written(tmp_path, GOOD.replace(old, new)))
    assert said in caught.value.message
    assert caught.value.message.startswith("hazards/my-rule.yaml:")


def test_a_users_rule_is_loaded_beside_the_shipped_ones_and_wins_over_its_namesake(tmp_path: Path) -> None:
    shipped = load([])
    mine = load([written(tmp_path, GOOD).parent])
    assert {r.id for r in mine} == {r.id for r in shipped} | {"my-rule"}
    assert mine.digest != shipped.digest
    written(tmp_path, GOOD.replace("my-rule", "lint-delta"), "other.yaml")
    assert load([tmp_path / "hazards"]).get("lint-delta").title == "A thing"


def test_two_files_of_one_id_are_refused(tmp_path: Path) -> None:
    written(tmp_path, GOOD)
    written(tmp_path, GOOD, "z.yaml")
    with pytest.raises(UsageError, match=r"is taken by my-rule\.yaml"):
        load([tmp_path / "hazards"]).get("my-rule")


def test_a_folder_of_other_things_called_hazards_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path, "fires: [kitchen]\nfloods: []\n", "map.yaml")
    assert load([tmp_path / "hazards"]).digest == load([tmp_path / "nothing"]).digest == load([]).digest


def test_every_shipped_rule_is_proved_by_its_fixtures() -> None:
    assert {proved.rule.id: proved.problems for proved in prove(load([]))} == {r.id: () for r in load([])}


def test_a_rule_without_fixtures_or_with_wrong_ones_is_not_proved(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD)
    rules = load([file.parent]).only("my-rule")
    (proved,) = prove(rules)
    assert "my-rule/bad" in proved.problems[0]
    for name in ("base", "ours", "theirs", "bad", "good"):
        (file.parent / "my-rule" / name).mkdir(parents=True)
        (file.parent / "my-rule" / name / "m.py").write_text("f.close()\n" if name == "good" else "x = 1\n")
    (proved,) = prove(rules)
    assert any(problem.startswith("its hazard holds in good") for problem in proved.problems)
    assert "it does not fire on bad" in proved.problems


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"pattern": "self.$EV.synchronize()"}, {"synchronize"}),
        ({"any": [{"pattern": "$Q.submit($$$)"}, {"pattern": "$Q.put()"}]}, {"submit", "put"}),
        ({"any": [{"pattern": "$Q.submit($$$)"}, {"kind": "call"}]}, None),
        ({"all": [{"kind": "call"}, {"pattern": "first_word(second)"}]}, {"first_word"}),
        ({"pattern": "$A + $B"}, None),
    ],
)
def test_the_words_without_which_a_rule_cannot_match(rule: dict[str, object], words: set[str] | None) -> None:
    assert literals(rule) == words
