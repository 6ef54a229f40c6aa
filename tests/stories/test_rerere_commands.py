"""A person looks at the cache: list, show and forget."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, rebuild, resolve


def test_two_fixups_of_one_head(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"red": "red\n"}, "red")
    fork.git("checkout", "-q", "-b", "deploy", "v1")
    fork.git("merge", "-q", "--no-ff", "--no-commit", "red")
    fork.commit({"x": "x\n", "y": "y\n"}, "Take red, and say so")
    fork.git("checkout", "-q", "main")
    assert fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy").code == 0

    [x, y] = sorted(fork.stackmerge("rerere", "list").out.splitlines(), key=lambda line: line.split()[2])
    assert [line.split()[1:] for line in (x, y)] == [
        ["fixup", "x", "Take-red-and-say-so"],
        ["fixup", "y", "Take-red-and-say-so"],
    ]
    first, second = x.split()[0], y.split()[0]
    head = fork.git("rev-parse", "red")[:12]
    assert first != second
    assert first.startswith(f"{head}:")
    many = fork.stackmerge("rerere", "forget", head)
    assert many.code == 2
    named = ", ".join(sorted([first, second]))
    assert many.err == f"error: {head!r} is the start of 2 ids: {named}\nhint: give more of it\n"
    assert fork.stackmerge("rerere", "show", first).out.startswith(f"fixup {first}\n    at x, train")
    assert fork.stackmerge("rerere", "forget", first).code == 0
    assert fork.stackmerge("rerere", "list").out.split() == [head, *y.split()[1:]]
    assert fork.graph("deploy", "v1") == "* Take red, and say so <- red\n    A red\n    A x\n    A y\n"


def test_list_show_and_forget(fork: Sandbox) -> None:
    fork.commit({"a": nine(), "gone": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red"), "gone": None}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue"), "gone": nine(l1="blue")}, "blue")
    fork.manifest(manifest("red", "blue"))
    assert fork.stackmerge("rerere", "list", "--json").json == {"resolutions": []}
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple"), "gone": None})
    done = go_on(fork)

    listed = fork.stackmerge("rerere", "list", "--json").json["resolutions"]
    assert [(one["kind"], one["path"], one["step"], one["source"]) for one in listed] == [
        ("text", "a", "blue", "hand"),
        ("exact", "gone", "blue", "hand"),
    ]
    text, exact = (one["id"] for one in listed)
    assert f"{text[:12]}  text   a" in fork.stackmerge("rerere", "list").out

    shown = fork.stackmerge("rerere", "show", text[:8]).out
    assert shown.splitlines()[0] == f"text {text}"
    assert "by Ada <ada@example.com>" in shown
    assert "+purple" in shown.splitlines()
    [found] = fork.stackmerge("rerere", "show", text, "--json").json["resolutions"]
    assert found["provenance"][0]["parents"] == [
        done["steps"][0]["commit"],
        fork.git("rev-parse", "blue"),
    ]
    assert fork.stackmerge("rerere", "show", exact).out.splitlines()[0] == f"exact {exact}"

    unknown = fork.stackmerge("rerere", "show", "ffff")
    assert unknown.code == 2
    assert unknown.err.startswith("error: no resolution has an id like 'ffff'\nhint: ")
    assert fork.stackmerge("rerere", "forget", "").code == 2

    assert fork.stackmerge("rerere", "forget", text[:12]).code == 0
    left = fork.stackmerge("rerere", "list", "--json").json["resolutions"]
    assert [one["id"] for one in left] == [exact]
    stopped = rebuild(fork, "--fresh", code=3)
    assert outcomes(stopped) == {"red": "clean", "blue": "conflict"}
    assert [(c["path"], bool(c["reason"])) for c in stopped["steps"][1]["conflicts"]] == [
        ("a", True),
        ("gone", False),
    ]
    resolve(fork, stopped, {"a": nine(l1="violet")})
    go_on(fork)
    assert fork.show("deploy", "a") == nine(l1="violet").rstrip("\n")
    assert fork.graph("deploy", "v1") == (
        "* Merge red <- red\n    M a\n    D gone\n* Merge blue <- blue\n    M a\n"
    )
