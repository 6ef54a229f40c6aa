"""A head is forked from a newer upstream than the base: it brings that upstream along, and the proof knows."""

from __future__ import annotations

from tests.sandbox import Sandbox

MANIFEST = """\
stack: deploy
base: v3
steps:
- name: ahead
  merge: ahead
- name: behind
  merge: behind
"""


def upstream_with_two_heads(fork: Sandbox) -> None:
    """Three versions; ``ahead`` is forked from the second, ``behind`` from the first."""
    for number in (1, 2, 3):
        fork.commit({"version": f"{number}\n", f"news-{number}": "news\n"}, f"version {number}")
        fork.git("tag", f"v{number}")
    fork.branch("ahead", "v2", {"a": "ahead\n"}, "ahead")
    fork.branch("behind", "v1", {"b": "behind\n"}, "behind")
    fork.manifest(MANIFEST)


def test_an_older_base_gets_what_the_head_brings(fork: Sandbox) -> None:
    upstream_with_two_heads(fork)
    first = fork.stackmerge("rebuild", "--json")
    assert first.code == 0, first.err

    second = fork.stackmerge("rebuild", "--onto", "v1", "--json")
    assert second.code == 0, second.err
    assert fork.show("deploy", "version") == "2"
    assert fork.git("ls-tree", "--name-only", "deploy").split() == ["a", "b", "news-1", "news-2", "version"]
    assert second.json["proof"]["counts"] == {"base": 2}  # version and news-3, as they are in v2
    assert second.json["proof"]["new_base"] == fork.git("rev-parse", "v1")


def test_the_way_back_to_the_newer_base(fork: Sandbox) -> None:
    upstream_with_two_heads(fork)
    for base in ("v1", "v3"):
        rebuilt = fork.stackmerge("rebuild", "--onto", base, "--json")
        assert rebuilt.code == 0, rebuilt.err
    assert rebuilt.json["proof"]["counts"] == {"base": 2}
    assert fork.show("deploy", "version") == "3"
