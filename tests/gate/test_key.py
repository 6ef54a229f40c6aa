"""Under what a gate's result is kept: whatever it depends on must be in the key, and nothing may be read from it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.gate.test_gating import outcomes, shell, stack
from tests.sandbox import Sandbox

PASSED = "passed on CPU"


def test_the_value_of_a_variable_that_a_gate_asks_for_counts(fork: Sandbox) -> None:
    script = shell('test "$MODEL" = good')
    stack(fork, [{"name": "model", "run": script, "requires": {"env": ["MODEL"]}}], ("one",))
    said = []
    for value in ("good", "bad", "good"):
        fork.environment["MODEL"] = value
        said += outcomes(fork.stackmerge("rebuild", "--fresh", "--json").json)
    assert said == [("one", PASSED, False), ("one", "failed (exit status 1)", False), ("one", PASSED, True)]


def test_no_key_tells_the_same_value_of_two_repositories(tmp_path: Path) -> None:
    """Else whoever sees a key could try values until it comes out."""
    keys = set()
    for name in ("here", "there"):
        fork = Sandbox(tmp_path, name)
        fork.environment["PIN"] = "1234"
        stack(fork, [{"name": "pin", "run": "true", "requires": {"env": ["PIN"]}}], ("one",))
        ran = fork.stackmerge("rebuild", "--json")
        keys.add(ran.json["gates"][0]["key"])
        salt = fork.path / ".git" / "stackmerge" / "gates" / "salt"
        assert (len(salt.read_bytes()), salt.stat().st_mode & 0o777) == (32, 0o600)
    assert len(keys) == 2


def test_inputs_that_no_file_matches_are_the_whole_tree_and_that_is_said(fork: Sandbox) -> None:
    stack(fork, [{"name": "typo", "run": shell("test ! -f two.txt"), "inputs": ["scr/**"]}])
    ran = fork.stackmerge("rebuild", "--json")
    assert outcomes(ran.json) == [("one", PASSED, False), ("two", "failed (exit status 1)", False)]
    said = "no file of the tree is among its `inputs`, so the whole tree counts"
    assert [gate["note"] for gate in ran.json["gates"]] == [said, said]
    assert fork.stackmerge("gate", "one").err.splitlines()[-1] == f"gate typo: {said}"


def test_a_filter_that_is_configured_otherwise_is_another_result(fork: Sandbox) -> None:
    """Attributes and filters work in a checkout as they do in a clone: LFS objects are files there."""
    fork.commit({"a.txt": "word\n", ".gitattributes": "a.txt filter=case\n"}, "base")
    stack(fork, [{"name": "upper", "run": shell("grep -q WORD a.txt")}], ("one",))
    fork.git("config", "filter.case.smudge", "tr a-z A-Z")
    assert outcomes(fork.stackmerge("rebuild", "--json").json) == [("one", PASSED, False)]
    assert outcomes(fork.stackmerge("rebuild", "--fresh", "--json").json) == [("one", PASSED, True)]
    fork.git("config", "filter.case.smudge", "cat")
    failed = fork.stackmerge("rebuild", "--fresh", "--json")
    assert outcomes(failed.json) == [("one", "failed (exit status 1)", False)]
    assert json.dumps(failed.json["gates"][0]["environment"]).count("smudge") == 0
