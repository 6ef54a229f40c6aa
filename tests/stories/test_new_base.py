"""A stack is rebuilt on a newer upstream: what merges, merges, and the proof holds."""

from __future__ import annotations

from tests.sandbox import Sandbox

MANIFEST = """\
stack: deploy
base: v1
branch_prefix: d/
steps:
- name: red
  merge: red
  pr: 7
  title: Paint it red
- name: blue
  merge: blue
"""


def test_two_clean_merges_move_to_the_new_base(fork: Sandbox) -> None:
    fork.commit({"a": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": "RED\n2\n3\n4\n5\n6\n7\n8\n9\n"}, "red")
    fork.branch("blue", "v1", {"c": "blue\n"}, "blue")
    fork.commit({"a": "1\n2\n3\n4\n5\n6\n7\n8\nNINE\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(MANIFEST)

    first = fork.stackmerge("rebuild", "--json")
    assert first.code == 0, first.err
    assert first.json["status"] == "complete"
    assert [step["outcome"] for step in first.json["steps"]] == ["clean", "clean"]

    second = fork.stackmerge("rebuild", "--onto", "v2", "--json")
    assert second.code == 0, second.err
    assert second.json["proof"]["counts"] == {"merged": 1}
    assert fork.show("deploy", "a") == "RED\n2\n3\n4\n5\n6\n7\n8\nNINE"
    assert fork.git("rev-parse", "deploy") == second.json["tip"] == fork.git("rev-parse", "d/02-blue")
    assert fork.graph("deploy", "v2") == (
        "* Merge Paint it red (PR 7) <- red\n    M a\n* Merge blue <- blue\n    A c\n"
    )
