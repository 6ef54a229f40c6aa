"""--from takes the steps below one as they are, even with --fresh, and says so when it cannot."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import branches, manifest, outcomes, rebuild


def test_from_a_step(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    for head in ("red", "green", "blue"):
        fork.branch(head, "v1", {head: f"{head}\n"}, head)
    fork.commit({"a": "aa\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "green", "blue"))
    first = rebuild(fork)

    again = rebuild(fork, "--from", "green", "--fresh")
    assert [step["reused"] for step in again["steps"]] == [True, False, False]
    assert again["tip"] == first["tip"]
    before = branches(fork), fork.git("for-each-ref", "refs/stackmerge")

    elsewhere = fork.stackmerge("rebuild", "--from", "green", "--onto", "v2")
    assert elsewhere.code == 2
    assert elsewhere.err.startswith(
        "error: --from green: step 'red' below it has no result on this base\nhint: rebuild without --from\n"
    )
    unknown = fork.stackmerge("rebuild", "--from", "mauve")
    assert unknown.code == 2
    assert unknown.err.startswith("error: --from: there is no step 'mauve'\nhint: ")
    assert (branches(fork), fork.git("for-each-ref", "refs/stackmerge")) == before

    assert outcomes(rebuild(fork, "--onto", "v2")) == {"red": "clean", "green": "clean", "blue": "clean"}
    assert fork.graph("deploy", "v2") == (
        "* Merge red <- red\n    A red\n* Merge green <- green\n    A green\n* Merge blue <- blue\n    A blue\n"
    )
