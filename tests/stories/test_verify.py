"""The proof compares two tips path by path; a stray change is found, and exit code 6 says so."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, nine, rebuild, resolve


def test_verdicts(fork: Sandbox) -> None:
    fork.commit({"both": nine(), "base": "1\n", "stack": "1\n", "conflict": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"both": nine(l1="red"), "stack": "red\n", "conflict": nine(l1="red")}, "red")
    fork.branch("blue", "v1", {"conflict": nine(l1="blue")}, "blue")
    fork.commit({"both": nine(l9="NINE"), "base": "2\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", "blue"))
    too_few = fork.stackmerge("verify")
    assert too_few.code == 2
    assert too_few.err.startswith("error: there are no two rebuilds to compare\n")
    resolve(fork, rebuild(fork, code=3), {"conflict": nine(l1="purple")})
    old = go_on(fork)["tip"]
    new = rebuild(fork, "--onto", "v2")["tip"]

    for names in ((), ("1", "2"), (old, new)):
        proof = fork.stackmerge("verify", *names, "--json")
        assert proof.code == 0, proof.err
        verdicts = {path["path"]: path["verdict"] for path in proof.json["paths"]}
        assert verdicts == {"base": "base", "both": "merged"}

    unknown = fork.stackmerge("verify", "1", "2", "--new-base", "nosuch")
    assert unknown.code == 2
    assert unknown.err.startswith("error: --new-base: 'nosuch' is not a commit that is here\n")
    fork.git("checkout", "-q", "--detach", new)
    stray = fork.commit({"stack": "stray\n", "both": nine(l1="stray")}, "stray")
    fork.git("checkout", "-q", "main")
    proof = fork.stackmerge("verify", old, stray, "--old-base", "v1", "--new-base", "v2", "--json")
    assert proof.code == 6
    verdicts = {path["path"]: path["verdict"] for path in proof.json["paths"]}
    assert verdicts == {"base": "base", "both": "differs", "stack": "differs"}
    shown = fork.stackmerge("verify", old, stray, "--new-base", "v2")
    assert shown.code == 6
    assert "both: differs" in shown.err
    unknown = fork.stackmerge("verify", "1", "99")
    assert unknown.code == 2
    assert unknown.err == "error: verify: there is no state 99\nhint: see `stackmerge undo --list`\n"
    nameless = fork.stackmerge("verify", old, stray)
    assert nameless.code == 2
    assert nameless.err.startswith(f"error: the base of {stray[:12]} is not known\nhint: ")
    assert fork.graph("deploy", "v2") == (
        "* Merge red <- red\n    M both\n    M conflict\n    M stack\n* Merge blue <- blue\n    M conflict\n"
    )
