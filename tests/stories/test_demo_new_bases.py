"""Demo, stories 1 and 5: two newer upstreams; every resolution replays, and what landed is left out."""

from __future__ import annotations

from tests.stories.conftest import DemoFork, outcomes

REPLAYED = {
    "min-p-415": {"text"},
    "seed-433": {"text"},
    "gdn-conv-sync-339": {"text", "exact"},
    "ple-hash-338": {"text"},
}
CLEAN = {"ple-filler-67", "no-graph-fence-77"}


def test_every_resolution_replays_and_only_what_the_base_changed_differs(demo: DemoFork) -> None:
    old = demo.git("rev-parse", "5080deploy")
    ran = demo.stackmerge("rebuild", "--onto", "cac247a", "--gates", "off", "--json")
    assert ran.code == 0, ran.err
    used = {s["name"]: {r["kind"] for r in s["resolutions"]} for s in ran.json["steps"] if s["resolutions"]}
    assert used == REPLAYED
    assert outcomes(ran) == {
        "jit-arch-521": "clean",
        **dict.fromkeys(REPLAYED, "replayed"),
        **dict.fromkeys(CLEAN, "clean"),
    }
    assert ran.json["proof"]["counts"] == {"base": 2, "merged": 1}
    assert {path["path"] for path in ran.json["proof"]["paths"]} == demo.changed("e0886cc", "cac247a")
    assert demo.changed(old, "5080deploy") == demo.changed("e0886cc", "cac247a")
    assert demo.git("rev-parse", "5080/06-ple-hash-338^1") == demo.git(
        "rev-parse", "5080/05-gdn-conv-sync-339"
    )


def test_a_pull_request_that_landed_as_a_squash_is_reported_and_left_out(demo: DemoFork) -> None:
    old = demo.git("rev-parse", "5080deploy")
    ran = demo.stackmerge("rebuild", "--onto", "cc1f5c2", "--gates", "off", "--json")
    assert ran.code == 0, ran.err
    squash = demo.git("log", "--format=%H", "--grep=(#521)", "cc1f5c2")
    landed = ran.json["steps"][0]
    assert (landed["name"], landed["outcome"]) == ("jit-arch-521", "landed")
    assert landed["landed"] == f"squashed as {squash[:12]}"
    assert not demo.git("branch", "--list", "5080/01-*")
    assert demo.git("rev-parse", "5080/02-min-p-415^1") == demo.git("rev-parse", "cc1f5c2")
    # The change itself was in the old tip already; all else that the base changed differs, and nothing more.
    jit = "python/freetoken/jit.py"
    assert {path["path"] for path in ran.json["proof"]["paths"]} == demo.changed("e0886cc", "cc1f5c2")
    assert demo.changed(old, "5080deploy") == demo.changed("e0886cc", "cc1f5c2") - {jit}
    assert demo.show("5080deploy", jit) == demo.show("cc1f5c2", jit)


def test_the_stack_moves_from_base_to_base_and_back(demo: DemoFork) -> None:
    first = demo.git("rev-parse", "5080deploy")
    for base in ("cac247a", "cc1f5c2"):
        assert demo.stackmerge("rebuild", "--onto", base, "--gates", "off").code == 0
    assert demo.stackmerge("undo", "1").code == 0
    assert demo.git("rev-parse", "5080deploy") == first
