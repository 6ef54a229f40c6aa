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


def test_an_answer_by_hand_forgets_no_imported_one_of_an_unlike_file(fork: Sandbox) -> None:
    """git records no path, and the same hunk elsewhere has the same id."""
    tails = {
        "a": "".join(f"something {n}\n" for n in range(40)),
        "b": "".join(f"else {n}\n" for n in range(40)),
    }
    fork.commit({name: nine() + tail for name, tail in tails.items()}, "one")
    fork.git("tag", "v0")
    for name, tail in tails.items():
        fork.branch(f"in-{name}", "v0", {name: nine(l1="red") + tail}, name)
    fork.commit({name: nine(l1="ours") + tail for name, tail in tails.items()}, "two")
    fork.git("tag", "v1")
    fork.git("config", "rerere.enabled", "true")
    fork.git("checkout", "-q", "--detach", "v1")
    fork.git("merge", "-q", "in-b", check=False)
    fork.write({"b": nine(l1="imported") + tails["b"]})
    fork.git("commit", "-q", "-m", "merged")
    fork.git("checkout", "-q", "main")
    assert fork.stackmerge("rerere", "import").code == 0
    fork.manifest(manifest("in-a", "in-b"))
    stopped = rebuild(fork, code=3)
    assert outcomes(stopped)["in-a"] == "conflict"
    resolve(fork, stopped, {"a": nine(l1="by hand") + tails["a"]})
    assert outcomes(go_on(fork)) == {"in-a": "replayed", "in-b": "replayed"}
    assert fork.show("deploy", "b").startswith("imported\n")
    assert outcomes(rebuild(fork, "--fresh")) == {"in-a": "replayed", "in-b": "replayed"}
