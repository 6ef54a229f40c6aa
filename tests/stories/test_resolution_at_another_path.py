"""The same hunk in an unrelated file has the same id; there an answer is offered, never applied."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, outcomes, reason, rebuild, resolve


def test_an_answer_is_offered_at_another_path(fork: Sandbox) -> None:
    tail = "".join(f"something else {n}\n" for n in range(40))
    fork.commit({"a": nine(), "other": nine() + tail}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red"), "other": nine(l1="red") + tail}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue")}, "blue")
    fork.branch("green", "v1", {"other": nine(l1="blue") + tail}, "green")
    fork.manifest(manifest("red", "blue", "green"))
    resolve(fork, rebuild(fork, code=3), {"a": nine(l1="purple")})
    stopped = go_on(fork, code=3)

    assert outcomes(stopped) == {"red": "clean", "blue": "replayed", "green": "conflict"}
    [text] = fork.stackmerge("rerere", "list", "--json").json["resolutions"]
    assert reason(stopped, "green") == f"resolution {text['id'][:12]} was recorded at another path (a)"
    resolve(fork, stopped, {"other": nine(l1="violet") + tail})
    go_on(fork)

    again = rebuild(fork, "--fresh")
    assert outcomes(again) == {"red": "clean", "blue": "replayed", "green": "replayed"}
    assert fork.show("deploy", "a").startswith("purple\n")
    assert fork.show("deploy", "other").startswith("violet\n")
    assert fork.graph("deploy", "v1") == (
        "* Merge red <- red\n    M a\n    M other\n* Merge blue <- blue\n    M a\n"
        "* Merge green <- green\n    M other\n"
    )
