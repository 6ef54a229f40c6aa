"""The demo itself: made offline in seconds, always the same, and never over anybody's files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.conftest import DemoFork, outcomes

FIRST = {
    "jit-arch-521": "clean",
    "min-p-415": "replayed",
    "seed-433": "replayed",
    "ple-filler-67": "clean",
    "gdn-conv-sync-339": "replayed",
    "ple-hash-338": "replayed",
    "no-graph-fence-77": "clean",
}


def refs(demo: Sandbox) -> list[str]:
    """Every ref but those whose commits tell the time of day: journals and the cache."""
    listed = demo.git("for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    return [line for line in listed if " refs/stackmerge/" not in line]


def test_it_is_a_fork_with_two_stacks_that_are_accepted(demo: DemoFork) -> None:
    status = demo.stackmerge("status", "--json").json
    assert (status["status"], status["state"], status["stack"]) == ("complete", "accepted", "5080deploy")
    assert status["base"] == demo.git("rev-parse", "e0886cc")
    assert {step["name"]: step["outcome"] for step in status["steps"]} == FIRST
    branches = demo.git("branch", "--list", "--format=%(refname:short)", "5080/*").splitlines()
    assert branches == [f"5080/{i:02d}-{name}" for i, name in enumerate(FIRST, 1)]
    older = demo.stackmerge("status", "--manifest", "1080deploy.yaml", "--json").json
    assert (older["state"], older["base"]) == ("accepted", demo.git("rev-parse", "cc1f5c2"))
    assert outcomes(demo.stackmerge("rebuild", "--gates", "off", "--json")) == FIRST
    assert demo.git("status", "--porcelain") == ""
    demo.git("fsck", "--strict")


def test_resolutions_say_where_they_come_from(demo: DemoFork) -> None:
    listed = demo.stackmerge("rerere", "list", "--json").json["resolutions"]
    assert sorted((one["kind"], one["step"], one["source"]) for one in listed) == [
        ("exact", "gdn-conv-sync-339", "hand"),
        ("text", "gdn-conv-sync-339", "hand"),
        ("text", "min-p-415", "hand"),
        ("text", "ple-hash-338", "hand"),
        ("text", "seed-433", "hand"),
    ]


def test_the_heads_of_pull_requests_can_be_fetched_again(demo: DemoFork) -> None:
    ran = demo.stackmerge("update", "--json")
    assert ran.code == 0, ran.err
    assert demo.git("status", "--porcelain") == ""


def test_whoever_makes_it_gets_the_same_commits(demo: DemoFork, tmp_path: Path) -> None:
    other = Sandbox(tmp_path, "other")
    other.environment |= {"GIT_COMMITTER_NAME": "Somebody Else", "GIT_AUTHOR_NAME": "Me", "TZ": "Asia/Tokyo"}
    assert other.stackmerge("demo", "again").code == 0
    again = Sandbox(tmp_path, "other/again/fork")
    assert refs(again) == refs(demo)
    for lock in ("stackmerge.lock", "1080deploy.lock"):
        assert (again.path / lock).read_bytes() == (demo.path / lock).read_bytes()


def test_it_is_made_over_nothing_but_an_earlier_demo(fork: Sandbox) -> None:
    mine = fork.path / "mine"
    mine.mkdir()
    (mine / "work").write_text("precious\n")
    for options in ((), ("--anew",)):
        ran = fork.stackmerge("demo", "mine", *options)
        assert (ran.code, ran.err) == (
            2, "error: mine is there already, and is no demo\nhint: name another directory\n"
        )  # fmt: skip
    assert (mine / "work").read_text() == "precious\n"

    assert fork.stackmerge("demo", "new").code == 0
    ran = fork.stackmerge("demo", "new")
    assert (ran.code, "--anew" in ran.err) == (2, True)
    assert fork.stackmerge("demo", "new", "--anew").code == 0


def test_without_torch_the_gates_are_off_and_it_says_so(fork: Sandbox) -> None:
    script = "from stackmerge.demo import guide; guide.has_engine = lambda: False\n"
    script += "from stackmerge.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "demo", "--run", "new"],
        cwd=fork.path, env=fork.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "warning: torch is not installed here, so the gates are off" in done.stderr
    assert "\ngate " not in done.stderr
    assert done.stderr.count("accepted: 5080deploy at ") == 2
