"""What a description says of the rebuilds that led to it."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, nine, outcomes, rebuild, resolve


def test_after_adopting_only_what_a_person_resolved_is_new(fork: Sandbox) -> None:
    fork.commit({"a": nine(), "b": nine()}, "one")
    fork.git("tag", "v1")
    for name in ("red", "blue"):
        fork.branch(name, "v1", {"a": nine(l1=name)}, name)
    fork.branch("green", "v1", {"b": nine(l1="green")}, "green")
    fork.git("checkout", "-q", "-b", "deploy", "v1")
    fork.git("merge", "-q", "--no-ff", "red")
    fork.git("merge", "-q", "--no-ff", "blue", check=False)
    fork.commit({"a": nine(l1="purple")}, "Merge branch 'blue'")
    fork.git("merge", "-q", "--no-ff", "green")
    fork.git("checkout", "-q", "main")
    fork.commit({"b": nine(l1="ONE")}, "two")
    fork.git("tag", "v2")
    fork.commit({"c": "c\n"}, "three")
    fork.git("tag", "v3")
    assert fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy").code == 0
    resolve(fork, rebuild(fork, "--onto", "v2", code=3), {"b": nine(l1="GREEN")})
    assert outcomes(go_on(fork)) == {"red": "clean", "blue": "replayed", "green": "replayed"}
    assert "1 resolution replayed unchanged, 1 new" in described(fork)

    rebuild(fork, "--onto", "v3")
    newest, oldest = described(fork).splitlines()
    assert "2 resolutions replayed unchanged, 0 new" in newest
    assert "1 resolution replayed unchanged, 1 new" in oldest


def described(fork: Sandbox) -> str:
    ran = fork.stackmerge("describe", "green")
    assert ran.code == 0, ran.err
    return "\n".join(line for line in ran.out.splitlines() if line.startswith("- Rebased "))
